//! How is one request sent over HTTP, retried if allowed, and its answer read?

use super::super::conversation::Unanswered;
use super::super::initialize::initialize;
use super::super::link::{Deadline, Link};
use super::super::{Misbehaviour, Observed};
use super::{Http, Outgoing, SESSION, answer};
use crate::era::Era;
use http::StatusCode;
use mcptest_http::header_text;
use reqwest::Response;
use std::sync::Arc;

impl Http {
    /// Runs a request to its end, and passes the outcome to the conversation.
    pub(super) async fn exchange(self: &Arc<Self>, outgoing: Outgoing) {
        if let Err(why) = self.try_exchange(&outgoing).await {
            self.conversation.fail(outgoing.id, Unanswered::Bad(why));
        }
    }

    async fn try_exchange(self: &Arc<Self>, outgoing: &Outgoing) -> Result<(), Misbehaviour> {
        let mut is_renewed = false;
        for tries in 1.. {
            let session = self.session.lock().id.clone();
            let named = outgoing
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()));
            let response = self
                .post(&outgoing.line, Some(&outgoing.method), |own| {
                    own.extend(named);
                })
                .await?;
            match response.status() {
                status if status.is_success() => return self.take(outgoing, response).await,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                    self.wait_to_retry(outgoing, response, tries).await?;
                }
                StatusCode::NOT_FOUND if session.is_some() && outgoing.method != "initialize" => {
                    if is_renewed {
                        return Err(Misbehaviour::SessionExpired);
                    }
                    is_renewed = true;
                    self.renew(session).await?;
                }
                _ => {
                    self.take_refusal(outgoing, response).await;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn take(
        self: &Arc<Self>,
        outgoing: &Outgoing,
        response: Response,
    ) -> Result<(), Misbehaviour> {
        if outgoing.method == "initialize" && self.era() == Era::Legacy {
            self.session.lock().id =
                header_text(response.headers(), SESSION).map(ToOwned::to_owned);
        }
        self.take_answer(outgoing, response).await
    }

    async fn take_refusal(&self, outgoing: &Outgoing, response: Response) {
        let had_credentials = self.headers.contains_key(http::header::AUTHORIZATION);
        let why = answer::of_refusal(outgoing.id, response, &self.url, had_credentials).await;
        self.conversation.fail(outgoing.id, why);
    }

    /// Begins a new session to replace one that the server has forgotten.
    async fn renew(self: &Arc<Self>, forgotten: Option<String>) -> Result<(), Misbehaviour> {
        let _one_at_a_time = self.renewing.lock().await;
        if self.session.lock().id != forgotten {
            return Ok(());
        }
        self.conversation.observe(Observed::SessionRenewed);
        let link = Link::Http(Arc::clone(self), None);
        match initialize(&link, Deadline::after(self.connect_timeout)).await {
            Ok(_) => Ok(()),
            Err(error) => Err(error.misbehaviour.clone()),
        }
    }
}
