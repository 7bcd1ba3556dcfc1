//! Which call was probably meant? The most similar call to the same tool.

use std::ops::Range;

/// Calls that are still without a counterpart, by tool.
pub(super) struct NearMisses {
    by_tool: Vec<Vec<usize>>,
    is_taken: Vec<bool>,
    first_free: Vec<usize>,
    most_looks: usize,
}

impl NearMisses {
    /// `free` lists calls in order, each with a tool; at most `most_looks` of a tool are compared for one answer.
    pub(super) fn new(
        tools: usize,
        free: impl Iterator<Item = (usize, usize)>,
        most_looks: usize,
    ) -> Self {
        let mut by_tool = vec![Vec::new(); tools];
        let mut calls = 0;
        for (call, tool) in free {
            by_tool[tool].push(call);
            calls = call + 1;
        }
        Self {
            by_tool,
            is_taken: vec![false; calls],
            first_free: vec![0; tools],
            most_looks,
        }
    }

    /// The free calls to these tools in a range of calls, as many as are looked at.
    pub(super) fn free(&self, tools: &[usize], range: Range<usize>) -> impl Iterator<Item = usize> {
        tools.iter().flat_map(move |&tool| {
            let calls = &self.by_tool[tool];
            let from = calls
                .partition_point(|&call| call < range.start)
                .max(self.first_free[tool]);
            let inside = calls[from..]
                .iter()
                .copied()
                .take_while(move |&call| call < range.end);
            inside
                .filter(|&call| !self.is_taken[call])
                .take(self.most_looks)
        })
    }

    /// Takes the most similar free call to these tools in a range, the first of equals.
    pub(super) fn take(
        &mut self,
        tools: &[usize],
        range: Range<usize>,
        difference: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        let nearest = self
            .free(tools, range)
            .min_by_key(|&call| difference(call))?;
        self.is_taken[nearest] = true;
        for &tool in tools {
            let calls = &self.by_tool[tool];
            while calls
                .get(self.first_free[tool])
                .is_some_and(|&call| self.is_taken[call])
            {
                self.first_free[tool] += 1;
            }
        }
        Some(nearest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_free_call_is_taken_once() {
        let mut calls = NearMisses::new(2, [(0, 0), (1, 1), (2, 0), (4, 0)].into_iter(), 10);
        let difference = |call: usize| [3, 0, 1, 9, 1][call];
        assert_eq!(calls.take(&[0], 0..5, difference), Some(2));
        assert_eq!(calls.take(&[0], 0..4, difference), Some(0));
        assert_eq!(calls.take(&[0], 0..4, difference), None);
        assert_eq!(calls.take(&[0, 1], 0..5, difference), Some(1));
        assert_eq!(calls.free(&[0], 0..5).collect::<Vec<_>>(), [4]);
    }
}
