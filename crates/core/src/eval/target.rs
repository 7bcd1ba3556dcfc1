//! What a gate computes: each target with its range and how the runs of a test are folded into it.

/// One number that a gate computes and a suite can assert.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name that `expect:` uses.
    pub name: &'static str,
    /// What it says, in one line.
    pub doc: &'static str,
    /// The values it can have.
    pub range: Range,
    /// How the values of several runs become one.
    pub fold: Fold,
    /// The highest value it can have.
    most: f64,
    reachable: Option<fn(usize) -> Vec<f64>>,
}

/// The values a target can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// 0 or 1.
    Flag,
    /// 0 to 100, whole.
    Percent,
    /// 0 to 1.
    Ratio,
    /// 0 and up, whole.
    Count,
    /// 0 and up.
    Amount,
}

/// How the runs of a test become one number: the worst run decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The lowest: high is good.
    Min,
    /// The highest: low is good.
    Max,
    /// All together.
    Sum,
    /// The gate computes it over all runs at once.
    Pooled,
}

impl Target {
    /// 1 when something holds, else 0; the worst run decides.
    pub const fn flag(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, range: Range::Flag, fold: Fold::Min, most: f64::INFINITY, reachable: None }
    }

    /// A ratio from 0 to 1 where high is good; the worst run decides.
    pub const fn ratio(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, range: Range::Ratio, fold: Fold::Min, most: f64::INFINITY, reachable: None }
    }

    /// A whole percent where high is good; the worst run decides.
    pub const fn percent(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, range: Range::Percent, fold: Fold::Min, most: f64::INFINITY, reachable: None }
    }

    /// A count of something unwanted; the worst run decides.
    pub const fn count(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, range: Range::Count, fold: Fold::Max, most: f64::INFINITY, reachable: None }
    }

    /// An amount such as milliseconds or money; the worst run decides.
    pub const fn amount(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, range: Range::Amount, fold: Fold::Max, most: f64::INFINITY, reachable: None }
    }

    /// The same, folded in another way.
    #[must_use]
    pub const fn folded(mut self, fold: Fold) -> Self {
        self.fold = fold;
        self
    }

    /// The same, where only these values can come out of this many runs.
    #[must_use]
    pub const fn reaching(mut self, values: fn(usize) -> Vec<f64>) -> Self {
        self.reachable = Some(values);
        self
    }

    /// The same, where no value can be higher than this.
    #[must_use]
    pub const fn up_to(mut self, most: f64) -> Self {
        self.most = most;
        self
    }

    /// Values to try a matcher on: if none holds it cannot pass, if all hold it cannot fail.
    pub(crate) fn candidates(&self, runs: usize, mentioned: &[f64]) -> Vec<f64> {
        if let Some(reachable) = self.reachable {
            return reachable(runs);
        }
        let around = mentioned
            .iter()
            .flat_map(|&number| [number - 1.0, number, number + 1.0, number + 1e-9, number - 1e-9]);
        let mut values = match self.range {
            Range::Flag => vec![0.0, 1.0],
            Range::Percent => (0..=100).map(f64::from).collect(),
            Range::Ratio => (0..=1000)
                .map(|step| f64::from(step) / 1000.0)
                .chain(around.filter(|x| (0.0..=1.0).contains(x)))
                .collect(),
            Range::Count => (0..=100)
                .map(f64::from)
                .chain(around.filter(|x| *x >= 0.0 && x.fract() == 0.0))
                .chain([1e9])
                .collect(),
            Range::Amount => {
                (0..=100).map(f64::from).chain(around.filter(|x| *x >= 0.0)).chain([1e12]).collect()
            }
        };
        values.retain(|&value| value <= self.most);
        values
    }

    /// Whether values are shown and matched as whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.range, Range::Flag | Range::Percent | Range::Count)
    }
}
