//! How do blocks of input reach the workers, with a bound on the blocks in memory?

use super::cut::Block;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;

/// The blocks between the reader, the workers and the writer. The reader waits while too many are on
/// their way.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// The number of blocks that may be on their way.
    most: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Block>,
    /// The blocks that the writer has not written yet.
    unwritten: usize,
    /// True if the reader has ended.
    is_ended: bool,
    /// True if further rows are not needed.
    is_stopped: bool,
}

impl Queue {
    /// A queue for this number of workers.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            most: workers * 2 + 1,
        }
    }

    /// Adds a block, once there is room. Returns false if further rows are not needed.
    pub(super) fn push(&self, block: Block) -> bool {
        let mut state = self.state.lock();
        while state.unwritten >= self.most && !state.is_stopped {
            self.changed.wait(&mut state);
        }
        if state.is_stopped {
            return false;
        }
        state.unwritten += 1;
        state.waiting.push_back(block);
        self.changed.notify_all();
        true
    }

    /// The next block; `None` if there will be none.
    pub(super) fn pop(&self) -> Option<Block> {
        let mut state = self.state.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(block) = state.waiting.pop_front() {
                return Some(block);
            }
            if state.is_ended {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    /// A block was written.
    pub(super) fn written(&self) {
        self.state.lock().unwritten -= 1;
        self.changed.notify_all();
    }

    /// No more blocks follow.
    pub(super) fn end(&self) {
        self.state.lock().is_ended = true;
        self.changed.notify_all();
    }

    /// Further rows are not needed.
    pub(super) fn stop(&self) {
        self.state.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn block(number: usize) -> Block {
        Block {
            number,
            ..Block::default()
        }
    }

    #[test]
    fn blocks_leave_in_order_and_an_ended_queue_is_emptied() {
        let queue = Queue::new(1);
        assert!(queue.push(block(0)) && queue.push(block(1)));
        queue.end();
        let numbers = std::iter::from_fn(|| queue.pop()).map(|block| block.number);
        assert_eq!(numbers.collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn the_reader_waits_for_the_writer_and_a_stopped_queue_lets_everybody_go() {
        let queue = Queue::new(1);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| (0..100).take_while(|at| queue.push(block(*at))).count());
            while queue.state.lock().unwritten < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            queue.written();
            while queue.state.lock().waiting.len() < 4 {
                std::thread::sleep(Duration::from_millis(1));
            }
            queue.stop();
            assert_eq!(reader.join().unwrap(), 4);
            assert!(queue.pop().is_none());
        });
    }
}
