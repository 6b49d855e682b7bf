//! What the name of a model says of it.

/// Whether a name says that the model embeds and does not chat.
pub fn is_embedding_model(name: &str) -> bool {
    const EMBEDDING: [&str; 9] = [
        "embed", "bge", "e5-", "gte-", "minilm", "mxbai", "arctic", "nomic", "jina",
    ];
    let name = name.to_lowercase();
    EMBEDDING.iter().any(|mark| name.contains(mark))
}
