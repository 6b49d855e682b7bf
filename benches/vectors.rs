//! placeholder
use cogtrix::search::vectors::*;
use std::time::Instant;

struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn gauss(&mut self) -> f32 {
        let mut s = 0.0;
        for _ in 0..4 {
            s += (self.next() >> 40) as f32 / 16777216.0 - 0.5;
        }
        s * 1.73
    }
}
fn norm(mut v: Vec<f32>) -> Vec<f32> {
    let l = v.iter().map(|x| x * x).sum::<f32>().sqrt();
    v.iter_mut().for_each(|x| *x /= l);
    v
}
fn rss() -> String {
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    s.lines()
        .filter(|l| l.starts_with("VmRSS") || l.starts_with("VmHWM") || l.starts_with("RssAnon"))
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", ")
}
fn main() {
    let n: usize = std::env::var("N")
        .ok()
        .map_or(100_000, |s| s.parse().unwrap());
    let graph = std::env::var("GRAPH").is_ok();
    let random = std::env::var("RANDOM").is_ok();
    let d = 384;
    let dir = std::path::PathBuf::from(std::env::var("DIR").unwrap_or("/tmp/vecbench".into()));
    let spec = Spec {
        model: "m".into(),
        dimension: d,
    };
    let off = Options {
        hnsw_min: usize::MAX,
        builders: 2,
    };
    let mut rng = Rng(1);
    let centres: Vec<Vec<f32>> = (0..500)
        .map(|_| norm((0..d).map(|_| rng.gauss()).collect()))
        .collect();
    let make = |rng: &mut Rng| {
        if random {
            return norm((0..d).map(|_| rng.gauss()).collect());
        }
        let c = &centres[(rng.next() % 500) as usize];
        let g = norm((0..d).map(|_| rng.gauss()).collect());
        norm(
            c.iter()
                .zip(&g)
                .map(|(c, g)| c * 0.7746 + g * 0.6325)
                .collect(),
        )
    };
    if std::env::var("BUILD").is_ok() {
        let t = Instant::now();
        let mut ix = VectorIndex::recreate(&dir, &spec, off).unwrap();
        for i in 0..n {
            ix.push(Place(i as u64), &make(&mut rng)).unwrap();
        }
        ix.sync().unwrap();
        println!("push {n}: {:?}  {}", t.elapsed(), rss());
        return;
    }
    println!("start {}", rss());
    let t = Instant::now();
    let ix = VectorIndex::open(
        &dir,
        &spec,
        if graph {
            Options {
                hnsw_min: 1000,
                builders: 2,
            }
        } else {
            off
        },
    )
    .unwrap();
    println!("open: {:?} {}", t.elapsed(), rss());
    let mut rng = Rng(77);
    let queries: Vec<Vec<f32>> = (0..200).map(|_| make(&mut rng)).collect();
    let time = |ix: &VectorIndex| {
        let mut times = vec![];
        let mut out = vec![];
        for q in &queries {
            let t = Instant::now();
            out.push(ix.search(q, 10, Filter::All).unwrap());
            times.push(t.elapsed());
        }
        times.sort();
        println!(
            "p50 {:?} p90 {:?} p99 {:?} {}",
            times[100],
            times[180],
            times[198],
            rss()
        );
        out
    };
    let exact = time(&ix);
    let exact2 = time(&ix);
    assert_eq!(exact.len(), exact2.len());
    if graph {
        let t = Instant::now();
        loop {
            match ix.graph() {
                GraphState::Ready => break,
                GraphState::None => {
                    println!("none! {:?}", t.elapsed());
                    break;
                }
                GraphState::Building { rows, of } => {
                    println!("{rows}/{of} {:?}", t.elapsed());
                    std::thread::sleep(std::time::Duration::from_secs(10));
                }
            }
        }
        println!("built {:?} {}", t.elapsed(), rss());
        let fast = time(&ix);
        let fast = {
            time(&ix);
            fast
        };
        let hit: usize = fast
            .iter()
            .zip(&exact)
            .map(|(a, b)| {
                b.iter()
                    .filter(|h| a.iter().any(|x| x.place == h.place))
                    .count()
            })
            .sum();
        println!("recall@10 {}", hit as f64 / 2000.0);
    } else {
        // brute force
        let rows = std::fs::read(dir.join("vectors.f32")).unwrap();
        let rows: Vec<f32> = rows
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();
        let mut hit = 0;
        for (q, got) in queries.iter().zip(&exact).take(40) {
            let mut s: Vec<(f32, usize)> = rows
                .chunks_exact(d)
                .map(|r| r.iter().zip(q).map(|(a, b)| a * b).sum::<f32>())
                .zip(0..)
                .collect();
            s.sort_by(|a, b| b.0.total_cmp(&a.0));
            hit += s[..10]
                .iter()
                .filter(|(_, i)| got.iter().any(|h| h.place.0 == *i as u64))
                .count();
        }
        println!("recall vs brute {}", hit as f64 / 400.0);
    }
}
