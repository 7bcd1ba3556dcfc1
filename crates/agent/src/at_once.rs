//! How do several tasks run at the same time, and yet begin in order?

use std::future::{Future, poll_fn};
use std::task::Poll;

/// Runs the futures concurrently and waits for all of them. Each is first polled after the previous
/// one, so their work before the first wait happens in order.
pub async fn at_once<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures
        .into_iter()
        .map(|future| (Box::pin(future), None))
        .collect();
    poll_fn(|context| {
        let mut is_over = true;
        for (future, output) in &mut running {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(done) => *output = Some(done),
                    Poll::Pending => is_over = false,
                }
            }
        }
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    running
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn they_begin_in_order_wait_for_each_other_and_end_in_order() {
        let begun = Mutex::new(Vec::new());
        let (tell, told) = oneshot::channel();
        let (mut tell, mut told) = (Some(tell), Some(told));
        let futures = [0, 1].map(|number| {
            let (begun, tell, told) = (
                &begun,
                tell.take_if(|_| number == 1),
                told.take_if(|_| number == 0),
            );
            async move {
                begun.lock().unwrap().push(number);
                match (told, tell) {
                    (Some(told), _) => told.await.unwrap(),
                    (None, Some(tell)) => tell.send(()).unwrap(),
                    (None, None) => {}
                }
                number
            }
        });
        assert_eq!(at_once(futures).await, [0, 1]);
        assert_eq!(begun.into_inner().unwrap(), [0, 1]);
    }
}
