//! `/cost`: tokens and price of the session and of this run, by model, as servers reported them.

use std::collections::{BTreeMap, BTreeSet};

use super::{CommandError, Next, ReplContext, nothing};
use crate::chat::{Spending, Spent};
use crate::provider::Price;
use crate::repl::listing::{count, thousand};
use crate::repl::turn_line::{cost, known_price};

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    nothing("cost", arguments)?;
    let session = repl.agent.spending();
    let run = repl.env.catalog.meter().total();
    if session.is_empty() && run.is_empty() {
        return Next::answer("No server has reported any tokens yet.");
    }
    let models: BTreeSet<&str> = session.iter().chain(run.iter()).map(|it| it.0).collect();
    let mut prices: BTreeMap<String, Price> = BTreeMap::new();
    for model in models.iter().copied() {
        let known = known_price(&repl.agent, &repl.env.catalog, model);
        let price = match known {
            Some(price) => Some(price),
            None => repl.env.catalog.price(model).await,
        };
        prices.extend(price.map(|price| (model.to_owned(), price)));
    }
    let mut lines = Vec::new();
    lines.extend(part("This session", &session, &prices));
    lines.extend(part("This run", &run, &prices));
    let mut unpriced = models.iter().filter(|model| !prices.contains_key(**model));
    if let Some(model) = unpriced.next() {
        lines.push(format!(
            "No price is known for {model}; `models.NAME.price` in the config file sets one."
        ));
    }
    Next::answer(lines.join("\n"))
}

fn part(heading: &str, spending: &Spending, prices: &BTreeMap<String, Price>) -> Vec<String> {
    if spending.is_empty() {
        return Vec::new();
    }
    let price = |model: &str| prices.get(model).copied();
    let total = cost(spending, price);
    let total = total.map_or_else(String::new, |cost| format!(": {cost}"));
    let models = spending.iter().map(|(model, spent)| {
        let cost = price(model).map(|price| format!(", {}", price.of(spent)));
        format!("  {model}: {}{}", tokens(spent), cost.unwrap_or_default())
    });
    std::iter::once(format!("{heading}{total}"))
        .chain(models)
        .collect()
}

fn tokens(spent: Spent) -> String {
    let requests = usize::try_from(spent.requests).unwrap_or(usize::MAX);
    let cached = match spent.cached {
        0 => String::new(),
        cached => format!(" ({} cached)", thousand(cached)),
    };
    format!(
        "{}, {} tokens sent{cached}, {} received",
        count(requests, "request"),
        thousand(spent.prompt),
        thousand(spent.completion)
    )
}
