//! Own mounts and shared memory, and an own network with nothing but loopback. Unit: this process.

use std::fs::File;
use std::io::{self, ErrorKind, Write};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use super::super::order::Network;

/// Leaves the namespaces of the machine, through a user namespace where privileges are missing. Says whether it did
/// that.
pub(super) fn enter(network: Network) -> io::Result<bool> {
    let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    if network == Network::Isolated {
        flags |= UnshareFlags::NEWNET;
    }
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    let is_privileged = capabilities(None)?.effective.contains(needed);
    if !is_privileged {
        flags |= UnshareFlags::NEWUSER;
    }
    // Of before: inside of the namespace nobody is known yet.
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(flags).map_err(|error| told("unshare", error))?;
    if !is_privileged {
        for (file, text) in [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("{user} {user} 1")),
            ("gid_map", format!("{group} {group} 1")),
        ] {
            let path = format!("/proc/self/{file}");
            let written = File::options()
                .write(true)
                .open(&path)
                .and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| told(&path, error))?;
        }
    }
    if network == Network::Isolated {
        raise_loopback().map_err(|error| told("loopback", error))?;
    }
    Ok(!is_privileged)
}

#[expect(
    deprecated,
    reason = "the safe function is deprecated for what it does with tables of files, which are not asked for here"
)]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    rustix::thread::unshare(flags).map_err(Into::into)
}

fn told(what: &str, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// In a new network namespace the first interface is loopback.
const LOOPBACK: i32 = 1;
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST_ACK: u16 = 5;
const NLMSG_ERROR: u16 = 2;
const IFF_UP: u32 = 1;

/// Asks the kernel over netlink, so that `127.0.0.1` can be talked to.
fn raise_loopback() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    send(&socket, &link_up(), SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (_, length) = recv(&socket, &mut answer, RecvFlags::empty())?;
    acknowledged(&answer[..length])
}

/// `nlmsghdr` and `ifinfomsg`: bring the interface up.
fn link_up() -> Vec<u8> {
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST_ACK.to_ne_bytes());
    // Sequence and sender; family, padding and kind of the device.
    message.extend([0; 12]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message
}

/// Reads the `nlmsgerr` that answers: 0 or a negative error number.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok());
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok());
    match (kind.map(u16::from_ne_bytes), code.map(i32::from_ne_bytes)) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(code)) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_as_long_as_it_says() {
        let message = link_up();
        assert_eq!(message.len(), 32);
        assert_eq!(message[..4], 32_u32.to_ne_bytes());
        assert_eq!(message[20..24], LOOPBACK.to_ne_bytes());
    }

    #[test]
    fn an_error_of_the_kernel_is_told() {
        let answer = |kind: u16, code: i32| {
            let mut answer = vec![0; 16];
            answer[4..6].copy_from_slice(&kind.to_ne_bytes());
            answer.extend(code.to_ne_bytes());
            acknowledged(&answer).map_err(|error| error.raw_os_error())
        };
        assert_eq!(answer(NLMSG_ERROR, 0), Ok(()));
        assert_eq!(answer(NLMSG_ERROR, -1), Err(Some(1)));
        assert_eq!(answer(3, 0), Err(None));
        assert!(acknowledged(&[]).is_err());
    }
}
