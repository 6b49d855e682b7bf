//! `cogtrix models`: what each provider offers, with window and price where they are known.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::args::ChatArgs;
use super::report::{CliError, Exit};
use super::{parts, trust};
use crate::config::Texts;
use crate::provider::{Catalog, Kind, Listed, Offered, ProviderError, SetUp};
use crate::repl::listing::thousand;
use crate::term::{Align, Output, Table};

/// A provider and what it answered.
struct Provider {
    name: String,
    set_up: SetUp,
    offered: Result<Vec<Offered>, ProviderError>,
}

pub(super) async fn run(
    json: bool,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (inputs, config) = trust::unasked(args, disk.as_ref())?;
    let config = config?;
    let texts = Texts::load(inputs.folders.config.as_deref())?;
    let catalog = parts::catalog(&config, &inputs, &texts)?;
    output.wait_for("asking providers", "Ctrl-C stops");
    let providers = providers(&catalog);
    let providers = tokio::select! {
        providers = providers => providers,
        _ = tokio::signal::ctrl_c() => {
            output.end_progress();
            return Ok(Exit::Interrupted);
        }
    };
    output.end_progress();
    if json {
        output.answer(&format!("{:#}", in_json(&providers)));
    } else {
        table(&providers, output);
    }
    let has_models = providers
        .iter()
        .any(|provider| matches!(&provider.offered, Ok(offered) if !offered.is_empty()));
    Ok(if has_models { Exit::Ok } else { Exit::NoModel })
}

/// All at once: one that does not answer holds nobody up.
async fn providers(catalog: &Catalog) -> Vec<Provider> {
    let listed = catalog.providers().into_iter();
    let listed = listed.filter(|Listed { name, .. }| catalog.kind(name) != Ok(Kind::Offline));
    let asked = listed.map(|Listed { name, set_up }| async move {
        Provider {
            offered: catalog.offers(&name).await,
            set_up,
            name,
        }
    });
    join_all(asked).await
}

fn table(providers: &[Provider], output: &mut Output) {
    let any = |has: fn(&Offered) -> bool| {
        let mut offered = providers.iter().flat_map(|it| it.offered.iter().flatten());
        offered.any(has)
    };
    let has_prices = any(|model| model.price.is_some());
    let has_windows = has_prices || any(|model| model.window.is_some());
    // Cells of a column that a table does not have are left out.
    let n_columns = 1 + usize::from(has_windows) + usize::from(has_prices);
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left][..n_columns]);
    table.row(["MODEL", "WINDOW", "PRICE PER MILLION TOKENS"]);
    let mut rows = 0;
    for Provider { name, offered, .. } in providers {
        for model in offered.iter().flatten() {
            let window = model.window.map(|window| thousand(u64::from(window.0)));
            let price = model.price.map(|price| price.to_string());
            table.row([
                format!("{name}/{}", model.id),
                window.unwrap_or_default(),
                price.unwrap_or_default(),
            ]);
            rows += 1;
        }
    }
    if rows > 0 {
        output.answer(table.render_whole(output.answer_columns()).trim_end());
    }
    // Nobody asked for what is not set up, unless it is all there could be.
    let told = providers
        .iter()
        .filter(|provider| provider.set_up == SetUp::Yes || rows == 0);
    for Provider { name, offered, .. } in told {
        match offered {
            Ok(offered) if offered.is_empty() => output.notice(&format!("{name}: lists no models")),
            Ok(_) => {}
            Err(error) => output.notice(&format!("{name}: {error}")),
        }
    }
    if rows == 0 {
        output.notice("Run `cogtrix init` to set up a provider");
    }
}

fn in_json(providers: &[Provider]) -> Value {
    let providers = providers.iter().map(|Provider { name, offered, .. }| {
        let models = offered.iter().flatten().map(|model| {
            let price = model.price.map(|price| {
                json!({
                    "input": price.input.as_f64(),
                    "output": price.output.as_f64(),
                    "cached": price.cached.map(crate::provider::Dollars::as_f64),
                })
            });
            json!({
                "name": format!("{name}/{}", model.id),
                "window": model.window.map(|window| window.0),
                "price": price,
            })
        });
        json!({
            "provider": name,
            "models": models.collect::<Vec<_>>(),
            "error": offered.as_ref().err().map(ToString::to_string),
        })
    });
    Value::Array(providers.collect())
}
