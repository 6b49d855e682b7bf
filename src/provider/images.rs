//! Pictures of a request, as all wire formats send them: base64 under the digest of their bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::chat::Image;

/// Shared, because whoever may have to ask again keeps the request.
#[derive(Clone, Default, PartialEq)]
pub struct Images(BTreeMap<String, Arc<str>>);

impl Images {
    pub fn add(&mut self, image: &Image, bytes: &[u8]) {
        let text = STANDARD.encode(bytes);
        self.0.insert(image.sha256.clone(), text.into());
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is sent of a picture; one that is not here is named only.
    pub(super) fn data(&self, image: &Image) -> Option<&str> {
        self.0.get(&image.sha256).map(AsRef::as_ref)
    }
}

/// Not megabytes of letters.
impl fmt::Debug for Images {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
