//! What does a judge say to one question, and what does that cost?

use crate::grade::{GradingContext, dollars};
use crate::score::score;
use mcptest_agent::dialect::{Arguments, Ask, Message, Reply, Stop};
use mcptest_agent::provider::{AskError, Deadlines, Retry};
use mcptest_agent::{Budgets, Limits, OverBudget, Provider, Providers, Used};
use mcptest_core::eval::PRICES_HELP;
use mcptest_core::grade::{Answer, Asks, Grade, Numbers, Rubric, SYSTEM, Sheet, Vote, Wanted};
use mcptest_core::price::{Price, shipped_price};
use mcptest_core::provider::Parameters;
use mcptest_core::row::{Row, Subject};
use mcptest_core::suite::{Model, Suite};
use mcptest_core::trace::Tokens;
use mcptest_replay::interrupted;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;
use tokio::time::Instant;

/// The maximum number of tokens in a judge's answer, for the budget that is reserved for it.
const MOST_TOKENS: u64 = 2_048;

/// The reason why a grade is missing.
#[derive(Debug, Error)]
pub(crate) enum Ungraded {
    /// A judge gave no grade, or cannot be called.
    #[error("{0}")]
    Failed(String),
    /// A judge did not answer.
    #[error("{}", .0.message)]
    Unanswered(AskError),
    /// A budget is used up.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The cost limit of one check is reached.
    #[error("{0}")]
    OverLimit(String),
    #[error("interrupted")]
    Interrupted,
}

/// The judges, and their cost so far.
pub(crate) struct AskedJudges<'a> {
    context: GradingContext<'a>,
    providers: Providers,
    /// The cost of each check of each row with its own limit.
    spent: tokio::sync::Mutex<BTreeMap<(usize, String), f64>>,
    /// Models that have refused a temperature.
    without_temperature: Mutex<Vec<String>>,
}

/// One question about one run, put to the judges.
pub(crate) struct GradeRequest<'a> {
    pub(crate) judges: &'a AskedJudges<'a>,
    pub(crate) row: &'a Row<'a>,
    /// The row's place in the plan.
    pub(crate) index: usize,
    pub(crate) wanted: &'a Wanted<'a>,
}

/// A judge, with its provider.
struct Judge<'j> {
    provider: Provider,
    model: &'j Model,
    price: Option<Price>,
    budgets: Budgets<'j>,
    timeout: Duration,
}

impl<'a> AskedJudges<'a> {
    pub(crate) fn new(context: GradingContext<'a>) -> Self {
        let (providers, spent) = (Providers::default(), tokio::sync::Mutex::default());
        Self {
            context,
            providers,
            spent,
            without_temperature: Mutex::default(),
        }
    }
}

impl<'a> GradeRequest<'a> {
    /// Asks all judges of a check, each with its number of samples.
    pub(crate) async fn grade(&self) -> Result<Grade, Ungraded> {
        let wanted = self.wanted;
        let Some(suite) = self.row.suite() else {
            return Err(Ungraded::Failed("the suite is refused".to_owned()));
        };
        tokio::select! {
            biased;
            () = interrupted(self.judges.context.interrupt) => Err(Ungraded::Interrupted),
            graded = self.given(suite) => graded.map(|(votes, scores)| Grade {
                run: wanted.run,
                check: wanted.check.clone(),
                fingerprint: wanted.asked.fingerprint(),
                asked: wanted.asked.clone(),
                votes,
                scores,
                seal: None,
            }),
        }
    }

    async fn given(&self, suite: &'a Suite) -> Result<(Vec<Vote>, Numbers), Ungraded> {
        let wanted = self.wanted;
        if let Some(scorer) = wanted.question.scorer() {
            let scores = score(suite, scorer, &wanted.evidence)
                .await
                .map_err(Ungraded::Failed)?;
            return Ok((Vec::new(), scores));
        }
        Ok((self.votes(suite).await?, Numbers::new()))
    }

    async fn votes(&self, suite: &'a Suite) -> Result<Vec<Vote>, Ungraded> {
        let (question, check) = (self.wanted.question, &self.wanted.check);
        let mut votes = Vec::new();
        for model in question.judges_of(suite) {
            let judge = self.judge(suite, model)?;
            for sample in 1..=question.samples {
                // With a limit of its own, the judges of a check are asked one after the other.
                let held = match question.max_cost_usd {
                    Some(limit) => Some((self.judges.spent.lock().await, limit)),
                    None => None,
                };
                let key = (self.index, check.clone());
                if let Some((spent, limit)) = &held {
                    self.hold_to(*limit, spent.get(&key).copied().unwrap_or_default())?;
                }
                let vote = match &question.asks {
                    Asks::Rubric(rubric) => self.vote(&judge, rubric, sample).await?,
                    Asks::Similar(to) => self.likeness(&judge, to).await?,
                    Asks::Scorer(_) => continue,
                };
                if let Some((mut spent, _)) = held {
                    *spent.entry(key).or_default() += vote.cost_usd.unwrap_or_default();
                }
                votes.push(vote);
            }
        }
        Ok(votes)
    }

    /// The limit of a check's own.
    fn hold_to(&self, limit: f64, spent: f64) -> Result<(), Ungraded> {
        if spent < limit - 1e-9 {
            return Ok(());
        }
        let (limit, spent, check) = (dollars(limit), dollars(spent), &self.wanted.check);
        let why = format!("`max_cost` of {limit} of `{check}` is used up: {spent} was spent");
        self.judges.context.spending.stop(&why);
        Err(Ungraded::OverLimit(why))
    }

    fn judge(&self, suite: &'a Suite, model: &'a Model) -> Result<Judge<'a>, Ungraded> {
        let resolved =
            self.judges
                .providers
                .resolve(model, suite, mcptest_replay::host().environment);
        let provider = resolved.map_err(|error| Ungraded::Failed(error.to_string()))?;
        let (label, price) = (model.label(), price_of(self.row, model));
        let budgets = Budgets::new(suite, self.index);
        if price.is_none() && budgets.is_in_dollars(self.judges.context.spending) {
            let why = format!(
                "no price is known for `{label}`, so mcptest cannot enforce a dollar budget"
            );
            return Err(Ungraded::Failed(format!("{why}: {PRICES_HELP}")));
        }
        let of_provider = || {
            suite
                .providers
                .get(model.provider.as_ref()?)?
                .request_timeout_ms
        };
        let written = suite
            .judge
            .as_ref()
            .and_then(|judge| judge.request_timeout_ms)
            .or_else(of_provider);
        let timeout = written.map_or(Limits::default().request_timeout, Duration::from_millis);
        Ok(Judge {
            provider,
            model,
            price,
            budgets,
            timeout,
        })
    }

    /// Asks for one vote: each sheet of the rubric in a separate request.
    async fn vote(
        &self,
        judge: &Judge<'_>,
        rubric: &Rubric,
        sample: usize,
    ) -> Result<Vote, Ungraded> {
        let mut vote = blank(judge, sample);
        for sheet in rubric.sheets() {
            let answers = self.answers(judge, &sheet, &mut vote).await?;
            vote.answers.extend(answers);
        }
        vote.tokens = vote.tokens.totalled();
        let score = rubric.score(&vote.answers);
        vote.score = score.ok_or_else(|| Ungraded::Failed("an answer is missing".to_owned()))?;
        Ok(vote)
    }

    /// The likeness of the judged text to a string, by the cosine of their vectors.
    async fn likeness(&self, judge: &Judge<'_>, to: &str) -> Result<Vote, Ungraded> {
        let mut vote = blank(judge, 1);
        let Some(provider) = judge.provider.for_embeddings() else {
            let help = "name a model that has, such as `text-embedding-3-small`";
            return Err(Ungraded::Failed(format!(
                "{} has no embeddings: {help}",
                judge.provider.name()
            )));
        };
        let judge = Judge { provider, ..*judge };
        let texts = [
            Message::User(to.to_owned()),
            Message::User(self.wanted.evidence.judged_text()),
        ];
        let ask = Ask::new(&judge.model.id, &texts);
        let reply = self.paid(&judge, &ask, &mut vote).await?;
        let vectors: Vec<Vec<f64>> = serde_json::from_str(&reply.text).unwrap_or_default();
        let near = match &vectors[..] {
            [one, other] => cosine(one, other),
            _ => None,
        };
        let near = near.ok_or_else(|| {
            format!(
                "{} did not return two vectors that can be compared",
                vote.model
            )
        });
        vote.score = near.map_err(Ungraded::Failed)?;
        vote.tokens = vote.tokens.totalled();
        Ok(vote)
    }

    /// The answers to one sheet. An invalid reply is requested once more.
    async fn answers(
        &self,
        judge: &Judge<'_>,
        sheet: &Sheet,
        vote: &mut Vote,
    ) -> Result<Vec<Answer>, Ungraded> {
        let prompt = sheet.prompt(&self.wanted.evidence);
        let mut misfit: Option<String> = None;
        for _ in 0..2 {
            let said = match &misfit {
                Some(why) => format!("{prompt}\n\n{}", sheet.repair(why)),
                None => prompt.clone(),
            };
            let reply = self.reply(judge, sheet, said, vote).await?;
            match read(sheet, &reply) {
                Ok(answers) => return Ok(answers),
                Err(why) => misfit = Some(why),
            }
        }
        let why = misfit.unwrap_or_default();
        Err(Ungraded::Failed(format!(
            "{} gave no valid answer, asked twice: {why}",
            vote.model
        )))
    }

    async fn reply(
        &self,
        judge: &Judge<'_>,
        sheet: &Sheet,
        said: String,
        vote: &mut Vote,
    ) -> Result<Reply, Ungraded> {
        let (schema, messages) = (sheet.schema(), [Message::User(said)]);
        // What is asked but once is not worth a place in a cache.
        let plain = Parameters::from([("prompt_caching".to_owned(), false.into())]);
        let cool = [("temperature".to_owned(), 0.0.into())]
            .into_iter()
            .chain(plain.clone())
            .collect();
        let refused = &self.judges.without_temperature;
        let is_known = |known: &Vec<String>| known.contains(&vote.model);
        let is_cool =
            judge.provider.takes_temperature(&judge.model.id) && !is_known(&refused.lock());
        let mut ask = Ask {
            system: Some(SYSTEM),
            parameters: if is_cool { &cool } else { &plain },
            answer_schema: Some(&schema),
            ..Ask::new(&judge.model.id, &messages)
        };
        let reply = match self.paid(judge, &ask, vote).await {
            Err(Ungraded::Unanswered(error)) if is_cool && refuses_temperature(&error) => {
                refused.lock().push(vote.model.clone());
                ask.parameters = &plain;
                self.paid(judge, &ask, vote).await
            }
            reply => reply,
        };
        match reply? {
            reply if reply.stop == Stop::Refusal => {
                let why = format!("{} declined to judge", vote.model);
                Err(Ungraded::Failed(why))
            }
            reply => Ok(reply),
        }
    }

    /// Sends one request within the budget, and counts its cost.
    async fn paid(
        &self,
        judge: &Judge<'_>,
        ask: &Ask<'_>,
        vote: &mut Vote,
    ) -> Result<Reply, Ungraded> {
        let most = |price: Price| price.most_usd(judge.provider.estimate_prompt(ask), MOST_TOKENS);
        let spending = self.judges.context.spending;
        let is_in_dollars = judge.budgets.is_in_dollars(spending);
        let most_usd = judge
            .price
            .filter(|_| is_in_dollars)
            .map(most)
            .unwrap_or_default();
        let call = spending.reserve(judge.budgets, 0, most_usd).await?;
        // Twice, so that one answer that hangs is tried again.
        let deadlines = Deadlines {
            run: Instant::now() + judge.timeout * 2,
            answer: judge.timeout,
        };
        let reply = judge.provider.ask(ask, deadlines, &mut |_: Retry| {}).await;
        let reply = reply.map_err(Ungraded::Unanswered)?;
        let used = judge.provider.estimate(ask, &reply);
        let cost_usd = judge.price.and_then(|price| price.cost_usd(used));
        call.pay(Used {
            tokens: used.totalled().total.unwrap_or_default(),
            cost_usd,
            is_estimated: reply.usage.prompt.is_none() || reply.usage.completion.is_none(),
        });
        vote.tokens.add(reply.usage);
        vote.cost_usd = vote.cost_usd.zip(cost_usd).map(|(one, other)| one + other);
        Ok(reply)
    }
}

fn blank(judge: &Judge<'_>, sample: usize) -> Vote {
    let (model, tokens) = (judge.model.label(), Tokens::default());
    Vote {
        model,
        sample,
        score: 0.0,
        answers: Vec::new(),
        tokens,
        cost_usd: Some(0.0),
    }
}

/// The price of a judge of this row, if known.
pub(crate) fn price_of(row: &Row<'_>, model: &Model) -> Option<Price> {
    match row.subject {
        Subject::Agent(of) => {
            let environment = mcptest_replay::host().environment;
            of.suite.price(of.agent, &model.label(), environment)
        }
        _ => shipped_price(&model.label()),
    }
}

/// The cosine of two vectors, below 0 as 0; `None` if it is undefined.
fn cosine(one: &[f64], other: &[f64]) -> Option<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let length = (dot(one, one) * dot(other, other)).sqrt();
    let near = dot(one, other) / length;
    (one.len() == other.len() && near.is_finite()).then_some(near.clamp(0.0, 1.0))
}

/// Returns true if the model accepts no temperature. A refusal costs nothing.
fn refuses_temperature(error: &AskError) -> bool {
    error.status == Some(400) && error.message.contains("temperature")
}

/// Reads a reply as answers to a sheet: from its text, or from the call that the model had to make.
fn read(sheet: &Sheet, reply: &Reply) -> Result<Vec<Answer>, String> {
    if reply.stop.is_cut_off() {
        return Err("it was cut off".to_owned());
    }
    match reply.calls.first().map(|call| &call.arguments) {
        Some(Arguments::Json(json)) => sheet.read(json.get()),
        Some(Arguments::Text(text)) => sheet.read(text),
        None => sheet.read(&reply.text),
    }
}
