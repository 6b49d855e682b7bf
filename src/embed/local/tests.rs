use std::collections::HashMap;

use safetensors::tensor::{Dtype, TensorView};

use super::*;
use crate::files::MemoryDisk;

/// An encoder of no use but to compare with: two layers, two heads, random weights.
const CONFIG_TEXT: &str = r#"{"model_type":"bert","hidden_act":"gelu","hidden_size":8,"intermediate_size":12,
    "num_hidden_layers":2,"num_attention_heads":2,"max_position_embeddings":16,"layer_norm_eps":1e-12}"#;
const WORDS: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\none\ntwo\nthree\n##s\n";

type Tensors = HashMap<String, (Vec<usize>, Vec<f32>)>;

fn tensors() -> Tensors {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![8, 8]),
        (
            "embeddings.position_embeddings.weight".to_owned(),
            vec![16, 8],
        ),
        (
            "embeddings.token_type_embeddings.weight".to_owned(),
            vec![2, 8],
        ),
        ("embeddings.LayerNorm.weight".to_owned(), vec![8]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![8]),
    ];
    for layer in 0..2 {
        for (part, to, from) in [
            ("attention.self.query", 8, 8),
            ("attention.self.key", 8, 8),
            ("attention.self.value", 8, 8),
            ("attention.output.dense", 8, 8),
            ("intermediate.dense", 12, 8),
            ("output.dense", 8, 12),
        ] {
            let name = format!("encoder.layer.{layer}.{part}");
            shapes.push((format!("{name}.weight"), vec![to, from]));
            shapes.push((format!("{name}.bias"), vec![to]));
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            let name = format!("encoder.layer.{layer}.{part}");
            shapes.push((format!("{name}.weight"), vec![8]));
            shapes.push((format!("{name}.bias"), vec![8]));
        }
    }
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from(u16::try_from(state >> 16).unwrap()) / 32_768.0 - 1.0
    };
    let filled = shapes.into_iter().map(|(name, shape)| {
        let values = (0..shape.iter().product()).map(|_| next()).collect();
        (name, (shape, values))
    });
    filled.collect()
}

fn file(tensors: &Tensors) -> Vec<u8> {
    let bytes: HashMap<&str, Vec<u8>> = tensors
        .iter()
        .map(|(name, (_, values))| {
            let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            (name.as_str(), bytes)
        })
        .collect();
    let views = tensors.iter().map(|(name, (shape, _))| {
        let view = TensorView::new(Dtype::F32, shape.clone(), &bytes[name.as_str()]);
        (name, view.unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

fn disk_with(weights: &[u8]) -> MemoryDisk {
    MemoryDisk::with([
        ("e/config.json", CONFIG_TEXT.as_bytes()),
        ("e/vocab.txt", WORDS.as_bytes()),
        ("e/model.safetensors", weights),
    ])
}

fn open(disk: &MemoryDisk) -> Result<Local, EmbedError> {
    Local::open(Path::new("e"), Arc::new(disk.clone()))
}

/// The same computation as a page of formulas would have it, number by number.
fn by_hand(tensors: &Tensors, ids: &[usize]) -> Vec<f64> {
    let value = |name: &str, at: usize| f64::from(tensors[name].1[at]);
    let linear = |name: &str, x: &[f64], to: usize| -> Vec<f64> {
        (0..to)
            .map(|row| {
                let weight = |i: usize| value(&format!("{name}.weight"), row * x.len() + i);
                let sum: f64 = (0..x.len()).map(|i| x[i] * weight(i)).sum();
                sum + value(&format!("{name}.bias"), row)
            })
            .collect()
    };
    let norm = |name: &str, x: &[f64]| -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / 8.0;
        let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 8.0;
        let scaled = |(i, v): (usize, &f64)| {
            let weight = value(&format!("{name}.weight"), i);
            (v - mean) / (variance + 1e-12).sqrt() * weight + value(&format!("{name}.bias"), i)
        };
        x.iter().enumerate().map(scaled).collect()
    };
    let mut states: Vec<Vec<f64>> = (0..ids.len())
        .map(|at| {
            let sum: Vec<f64> = (0..8)
                .map(|i| {
                    value("embeddings.word_embeddings.weight", ids[at] * 8 + i)
                        + value("embeddings.position_embeddings.weight", at * 8 + i)
                        + value("embeddings.token_type_embeddings.weight", i)
                })
                .collect();
            norm("embeddings.LayerNorm", &sum)
        })
        .collect();
    for layer in 0..2 {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let all = |part: &str, states: &[Vec<f64>], to: usize| -> Vec<Vec<f64>> {
            states.iter().map(|x| linear(&name(part), x, to)).collect()
        };
        let query = all("attention.self.query", &states, 8);
        let key = all("attention.self.key", &states, 8);
        let value = all("attention.self.value", &states, 8);
        let mut attended = vec![vec![0.0; 8]; ids.len()];
        for head in 0..2 {
            for (from, seen) in attended.iter_mut().enumerate() {
                let score = |to: usize| -> f64 {
                    let columns = head * 4..head * 4 + 4;
                    columns.map(|i| query[from][i] * key[to][i]).sum::<f64>() / 2.0
                };
                let powers: Vec<f64> = (0..ids.len()).map(|to| score(to).exp()).collect();
                let sum: f64 = powers.iter().sum();
                for i in head * 4..head * 4 + 4 {
                    seen[i] = (0..ids.len())
                        .map(|to| powers[to] / sum * value[to][i])
                        .sum();
                }
            }
        }
        let add =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(x, y)| x + y).collect() };
        states = states
            .iter()
            .zip(&attended)
            .map(|(state, seen)| {
                let seen = linear(&name("attention.output.dense"), seen, 8);
                let state = norm(&name("attention.output.LayerNorm"), &add(state, &seen));
                let wide = linear(&name("intermediate.dense"), &state, 12);
                let wide: Vec<f64> = wide.iter().map(|x| x * normal_share(*x)).collect();
                let out = linear(&name("output.dense"), &wide, 8);
                norm(&name("output.LayerNorm"), &add(&state, &out))
            })
            .collect();
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let n = states.len() as f64;
    let mean = |i: usize| states.iter().map(|state| state[i]).sum::<f64>() / n;
    let mean: Vec<f64> = (0..8).map(mean).collect();
    let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
    mean.iter().map(|x| x / length).collect()
}

/// The share of a normal distribution below `x`, by adding up slices.
fn normal_share(x: f64) -> f64 {
    const SLICES: u32 = 20_000;
    let step = x / f64::from(SLICES);
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let slices = (0..SLICES).map(|n| density((f64::from(n) + 0.5) * step) * step);
    0.5 + slices.sum::<f64>()
}

#[tokio::test]
async fn the_forward_pass_agrees_with_one_computed_by_hand() {
    let tensors = tensors();
    let local = open(&disk_with(&file(&tensors))).unwrap();
    let texts = ["one two threes", "Two", "ones one one one one one one"];
    let ids: [&[usize]; 3] = [
        &[2, 4, 5, 6, 7, 3],
        &[2, 5, 3],
        &[2, 4, 7, 4, 4, 4, 4, 4, 4, 3],
    ];
    let vectors = local.embed(&texts).await.unwrap();
    for (vector, ids) in vectors.iter().zip(ids) {
        let expected = by_hand(&tensors, ids);
        for (x, wanted) in vector.iter().zip(&expected) {
            assert!(
                (f64::from(*x) - wanted).abs() < 1e-5,
                "{vector:?} {expected:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_vector_does_not_depend_on_the_texts_beside_it() {
    let local = open(&disk_with(&file(&tensors()))).unwrap();
    let alone = local.embed(&["three two"]).await.unwrap();
    let long = "one ".repeat(100);
    let texts: Vec<&str> = std::iter::repeat_n(long.as_str(), 40)
        .chain(["three two"])
        .collect();
    let among = local.embed(&texts).await.unwrap();
    for (x, y) in alone[0].iter().zip(&among[40]) {
        assert!((x - y).abs() < 1e-6);
    }
    assert_eq!(among.len(), 41);
    assert_eq!(local.dimensions(), Some(8));
}

#[tokio::test]
async fn files_that_do_not_fit_together_are_told_by_path_and_reason() {
    let mut narrow = tensors();
    let name = "encoder.layer.1.intermediate.dense.weight";
    narrow.get_mut(name).unwrap().0 = vec![8, 12];
    let mut missing = tensors();
    missing.remove("embeddings.LayerNorm.bias");
    let mut broken = tensors();
    broken.get_mut(name).unwrap().1[5] = f32::NAN;
    let whole = file(&tensors());
    for (weights, said) in [
        (file(&narrow), "(8, 12), not (12, 8)"),
        (file(&missing), "embeddings.LayerNorm.bias is missing"),
        (file(&broken), "not finite"),
        (whole[..whole.len() / 2].to_vec(), "model.safetensors"),
        (Vec::new(), "model.safetensors"),
    ] {
        let error = open(&disk_with(&weights)).unwrap().embed(&["one"]).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let disk = disk_with(&whole);
    disk.put("e/vocab.txt", b"one\n");
    assert!(open(&disk).unwrap_err().to_string().contains("[CLS]"));
    let error = Local::open(Path::new("none"), Arc::new(disk)).unwrap_err();
    assert!(matches!(error, EmbedError::Weights { .. }), "{error}");
}

#[test]
fn other_weights_in_the_same_place_are_another_model() {
    let mut other = tensors();
    other.get_mut("embeddings.LayerNorm.bias").unwrap().1[0] += 1.0;
    let name = |tensors: &Tensors| open(&disk_with(&file(tensors))).unwrap().model().to_owned();
    assert_eq!(name(&tensors()), name(&tensors()));
    assert_ne!(name(&tensors()), name(&other));
    assert!(name(&other).starts_with("local/bert-2x8-"));
}

#[tokio::test]
async fn the_encoder_is_chosen_where_its_files_are_and_nowhere_else() {
    use crate::embed::{Candidate, ChoiceSettings, EmbedderChoice, Named};
    let choice = |disk: MemoryDisk, folder: &str| {
        let settings = ChoiceSettings {
            candidates: vec![Candidate::Local {
                folder: folder.into(),
            }],
            named: Named::No,
        };
        EmbedderChoice::new(settings, Arc::new(disk))
    };
    let there = choice(disk_with(&file(&tensors())), "e");
    let embedder = there.resolve().await.unwrap().unwrap();
    assert_eq!(embedder.embed(&["one"]).await.unwrap()[0].len(), 8);
    assert!(there.describe().starts_with("local/bert-2x8-"), "{there:?}");
    let nowhere = choice(MemoryDisk::default(), "e");
    assert!(nowhere.resolve().await.unwrap().is_none());
    let why = nowhere.passed()[0].why.to_string();
    assert_eq!(why, "no model files in e");
}

#[tokio::test]
async fn weights_of_a_byte_each_are_the_same_model_with_about_the_same_vectors() {
    let disk = disk_with(&file(&tensors()));
    let texts = ["one two threes", "two"];
    let exact = open(&disk).unwrap();
    let wanted = exact.embed(&texts).await.unwrap();
    let original = disk.read(Path::new("e/model.safetensors")).unwrap();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let (before, now) = make_smaller(Path::new("e"), &shared).unwrap().unwrap();
    assert!(before > now, "{before} {now}");
    let kept = disk.read(Path::new("e/model.safetensors")).unwrap();
    let source = crate::files::digest(&original);
    assert!(is_made_of(&kept, &source) && !is_made_of(&original, &source));
    for at in [kept.len() - 200, kept.len() - 1] {
        let mut damaged = kept.clone();
        damaged[at] ^= 1;
        assert!(!is_made_of(&damaged, &source), "{at}");
    }
    let smaller = open(&disk).unwrap();
    assert_eq!(smaller.model(), exact.model());
    let found = smaller.embed(&texts).await.unwrap();
    for (found, wanted) in found.iter().zip(&wanted) {
        let cosine: f32 = found.iter().zip(wanted).map(|(x, y)| x * y).sum();
        assert!(cosine > 0.999, "{cosine}");
    }
    let again = make_smaller(Path::new("e"), &shared).unwrap();
    assert_eq!(again, None, "it is done once");
}

#[tokio::test]
async fn a_folder_of_ones_own_is_read_as_its_name_and_its_files_say() {
    let weights = file(&tensors());
    let half: HashMap<String, Vec<u8>> = tensors()
        .into_iter()
        .map(|(name, (_, values))| {
            let upper = |x: &f32| x.to_le_bytes().into_iter().skip(2);
            (name, values.iter().flat_map(upper).collect())
        })
        .collect();
    let shapes = tensors();
    let views = half.iter().map(|(name, bytes)| {
        let view = TensorView::new(Dtype::BF16, shapes[name].0.clone(), bytes);
        (name, view.unwrap())
    });
    let half = safetensors::serialize(views, None).unwrap();
    let named = CONFIG_TEXT.replacen('{', r#"{"_name_or_path":"intfloat/e5-small-v2","#, 1);
    let mean: &[u8] = br#"{"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true}"#;
    let disk = MemoryDisk::with([
        ("bge-small-en-v1.5/config.json", CONFIG_TEXT.as_bytes()),
        ("mine/config.json", named.as_bytes()),
        ("my-bge-small-en/config.json", CONFIG_TEXT.as_bytes()),
        ("my-bge-small-en/1_Pooling/config.json", mean),
        ("gte-small/config.json", CONFIG_TEXT.as_bytes()),
    ]);
    let mut vectors = HashMap::new();
    for (folder, model, weights) in [
        ("bge-small-en-v1.5", "local/bge-small-en-2x8-", &weights),
        ("mine", "local/e5-small-2x8-", &weights),
        ("my-bge-small-en", "local/bge-small-en-mean-2x8-", &weights),
        ("gte-small", "local/gte-small-2x8-", &half),
    ] {
        disk.put(format!("{folder}/vocab.txt"), WORDS.as_bytes());
        disk.put(format!("{folder}/model.safetensors"), weights);
        let local = Local::open(Path::new(folder), Arc::new(disk.clone())).unwrap();
        assert!(local.model().starts_with(model), "{}", local.model());
        vectors.insert(folder, local.embed(&["one two"]).await.unwrap().remove(0));
    }
    let mean = &vectors["mine"];
    assert_ne!(&vectors["bge-small-en-v1.5"], mean, "its first state");
    assert_eq!(&vectors["my-bge-small-en"], mean, "as its file says");
    let cosine: f32 = mean
        .iter()
        .zip(&vectors["gte-small"])
        .map(|(x, y)| x * y)
        .sum();
    assert!(cosine > 0.99, "half as precise: {cosine}");
}
