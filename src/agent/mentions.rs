//! What a message mentions: attached before the turn is recorded, so that what was sent is what is on disk.
//!
//! The words of the message stay as they were typed. Pictures are kept beside the session and loaded again for each
//! request that shows them.

use super::event::{TurnContext, Warning};
use super::{Agent, Files};
use crate::chat::{Image, Message, Part, SessionName};
use crate::context::ContextPlan;
use crate::context::stages::images::Pictures;
use crate::provider::Images;
use crate::store::Outputs;
use crate::tools::files::mentions::{Content, Mentioned, mentioned};

impl Agent {
    /// Parts for what a text mentions, to stand behind it.
    pub(super) async fn attached(
        &mut self,
        text: &str,
        context: &mut TurnContext<'_>,
    ) -> Vec<Part> {
        let files = self.toolbox.files.clone();
        let Some(files) = files.filter(|_| text.contains('@')) else {
            return Vec::new();
        };
        let (session, text) = (self.session().name().clone(), text.to_owned());
        let read = tokio::task::spawn_blocking(move || read(&files, &session, &text)).await;
        let (parts, notices) = read.unwrap_or_else(|error| {
            let notice = format!("not attached: {error}");
            (Vec::new(), vec![notice])
        });
        for notice in notices {
            context.warn(Warning::NotAttached { notice });
        }
        let names: Vec<String> = parts.iter().filter_map(name).collect();
        if !names.is_empty() {
            context.warn(Warning::Attached { names });
        }
        parts
    }

    /// Whether this turn's requests show pictures; asks the server only where a message brings some.
    pub(super) async fn settle_pictures(&mut self, input: &Message, context: &mut TurnContext<'_>) {
        if self.takes_images && self.has_pictures(input) && !self.provider.takes_images().await {
            self.takes_images = false;
        }
        if !self.takes_images && images(input).next().is_some() {
            context.warn(self.no_images());
        }
    }

    /// In the input, or in a turn that may be sent with it.
    fn has_pictures(&self, input: &Message) -> bool {
        let session = self.session();
        let newest = session.live_turns().rev().take(3);
        let past = newest.flat_map(|turn| session.messages_of(turn));
        std::iter::once(input)
            .chain(past)
            .any(|message| images(message).next().is_some())
    }

    pub(super) fn no_images(&self) -> Warning {
        Warning::NoImages {
            model: self.provider.model().to_string(),
        }
    }

    pub(super) fn pictures(&self) -> Pictures {
        if self.takes_images {
            Pictures::Recent
        } else {
            Pictures::None
        }
    }

    /// The bytes of the pictures in a plan. One that cannot be read any more is named only.
    pub(super) fn load_pictures(&self, plan: &ContextPlan) -> Images {
        let mut loaded = Images::default();
        let Some(outputs) = self
            .toolbox
            .files
            .as_ref()
            .and_then(|files| files.outputs.as_ref())
        else {
            return loaded;
        };
        for image in plan.messages().flat_map(images) {
            if let Some(bytes) = outputs.get(self.session().name(), &image.sha256) {
                loaded.add(image, &bytes);
            } else {
                tracing::warn!(image.name, image.sha256, "an attached image is missing");
            }
        }
        loaded
    }
}

fn images(message: &Message) -> impl Iterator<Item = &Image> {
    message.parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image),
        Part::Text(_) | Part::ToolCall(_) | Part::ToolResult { .. } | Part::Attached(_) => None,
    })
}

fn name(part: &Part) -> Option<String> {
    match part {
        Part::Attached(attached) => Some(attached.to_string()),
        Part::Image(image) => Some(image.name.clone()),
        Part::Text(_) | Part::ToolCall(_) | Part::ToolResult { .. } => None,
    }
}

/// Parts for what is mentioned, pictures on disk; and what is to be said.
fn read(files: &Files, session: &SessionName, text: &str) -> (Vec<Part>, Vec<String>) {
    let Mentioned {
        contents,
        mut notices,
    } = mentioned(&files.project, text);
    let mut parts = Vec::new();
    for content in contents {
        match part(content, files.outputs.as_deref(), session) {
            Ok(part) => parts.push(part),
            Err(why) => notices.push(format!("not attached: {why}")),
        }
    }
    (parts, notices)
}

fn part(
    content: Content,
    outputs: Option<&Outputs>,
    session: &SessionName,
) -> Result<Part, String> {
    match content {
        Content::Text(attached) => Ok(Part::Attached(attached)),
        Content::Image {
            name,
            media_type,
            bytes,
        } => {
            let outputs = outputs.ok_or_else(|| format!("no place to save {name}"))?;
            let kept = outputs.put(session, &bytes);
            let sha256 = kept.map_err(|error| format!("could not save {name}: {error}"))?;
            Ok(Part::Image(Image {
                name,
                media_type: media_type.to_owned(),
                sha256,
            }))
        }
    }
}
