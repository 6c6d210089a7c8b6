//! Orders of the steps of several transactions.

use rand::seq::SliceRandom;

use crate::seed;

/// Which transaction takes the next step, again and again.
pub(super) type Schedule = Vec<u8>;

/// Every order of so many steps of each transaction, or `max` random ones if there are more.
pub(super) fn schedules(steps: &[usize], max: usize, seed: u64) -> Vec<Schedule> {
    let of_txn = |(txn, &steps): (usize, &usize)| std::iter::repeat_n(txn as u8, steps);
    let mut schedule: Schedule = steps.iter().enumerate().flat_map(of_txn).collect();
    if count(steps) > max as u128 {
        let mut rng = seed::rng(seed);
        let mut random = || {
            schedule.shuffle(&mut rng);
            schedule.clone()
        };
        return (0..max).map(|_| random()).collect();
    }
    let mut all = vec![schedule.clone()];
    while next(&mut schedule) {
        all.push(schedule.clone());
    }
    all
}

/// How many orders there are.
fn count(steps: &[usize]) -> u128 {
    let mut placed = 0;
    let mut count = 1;
    for &steps in steps {
        for step in 1..=steps as u128 {
            placed += 1;
            count = count * placed / step;
        }
    }
    count
}

/// The next order; false after the last.
fn next(schedule: &mut [u8]) -> bool {
    let Some(turn) = schedule.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        return false;
    };
    let later = schedule.iter().rposition(|&txn| txn > schedule[turn]);
    schedule.swap(turn, later.expect("the one after it is"));
    schedule[turn + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once() {
        let all = schedules(&[2, 1, 2], 1000, 1);
        assert_eq!(all.len() as u128, count(&[2, 1, 2]));
        assert_eq!(all.len(), 30);
        let mut sorted = all.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted, all);
        assert_eq!((&all[0][..], &all[29][..]), (&[0, 0, 1, 2, 2][..], &[2, 2, 1, 0, 0][..]));
    }

    #[test]
    fn too_many_are_sampled() {
        let some = schedules(&[4, 4, 4], 100, 1);
        assert_eq!(some.len(), 100);
        assert_eq!(some, schedules(&[4, 4, 4], 100, 1));
        assert_ne!(some, schedules(&[4, 4, 4], 100, 2));
    }
}
