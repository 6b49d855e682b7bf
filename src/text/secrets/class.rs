//! What kinds of secrets there are.

use std::fmt;

/// The kind of a secret, as a receipt names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Password,
    ApiKey,
    Token,
    Cookie,
    OneTimeCode,
    Pin,
    AccessCode,
    NationalId,
    Card,
    Account,
    PrivateKey,
    ConnectionString,
    RecoveryPhrase,
    RecoveryCode,
    Login,
}

impl Class {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::ApiKey => "key",
            Self::Token => "token",
            Self::Cookie => "cookie",
            Self::OneTimeCode => "one-time code",
            Self::Pin => "PIN",
            Self::AccessCode => "access code",
            Self::NationalId => "national id",
            Self::Card => "card number",
            Self::Account => "account number",
            Self::PrivateKey => "private key",
            Self::ConnectionString => "connection string",
            Self::RecoveryPhrase => "recovery phrase",
            Self::RecoveryCode => "recovery codes",
            Self::Login => "login",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
