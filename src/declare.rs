//! Macros for what every room declares: enums whose variants have names, and settings with their defaults.

/// Declares an enum with a name for each variant, and gives it `ALL`, `as_str`, `parse` and `Display`.
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident {
        $($(#[$variant_meta:meta])* $Variant:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis enum $Enum {
            $($(#[$variant_meta])* $Variant),+
        }

        impl $Enum {
            /// Every variant, in the order of declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name),+
                }
            }

            /// Returns the variant with this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|it| it.as_str() == name)
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Declares a struct of settings, each with its default behind it.
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $Struct:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $Type:ty = $default:expr),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $Struct {
            $($(#[$field_meta])* $field_vis $field: $Type),+
        }

        impl Default for $Struct {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }
    };
}

pub(crate) use {named, settings};
