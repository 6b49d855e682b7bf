//! What a command sees mounted: protected files read-only, sockets of services covered, terminals of its own.
//! Unit: one mount namespace.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
    mount_remount,
};

use super::super::grants::Grants;
use super::super::order::{Keys, Network, Order};
use super::super::protected::{can_be_mounted, is_inside};
use super::{agent, argument};
use crate::files::resolve_links;

/// Where services that act for whoever asks have their sockets, whether they run now or not.
const SERVICES: [&str; 18] = [
    "/run/user",
    "/run/dbus",
    "/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/incus",
    "/run/libvirt",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/systemd/private",
    "/run/screen",
    "/run/tmux",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
    "/tmp/.X11-unix",
];

/// Sockets that serve those who may use the network: names and data bases.
const OF_THE_NETWORK: [&str; 7] = [
    "/run/systemd/resolve",
    "/run/nscd",
    "/run/avahi-daemon",
    "/run/postgresql",
    "/run/mysqld",
    "/run/redis",
    "/run/memcached",
];

/// Folders in which services keep their sockets, wherever those lie.
const OF_SERVICES: [&str; 10] = [
    ".docker",
    ".colima",
    ".lima",
    ".rd",
    ".orbstack",
    ".minikube",
    ".podman",
    ".gnupg",
    ".ssh",
    ".tmux",
];

/// The kernel's list of sockets by name; those that listen have this flag.
const SOCKETS: &str = "/proc/net/unix";
const LISTENS: u32 = 0x1_0000;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mount {
    /// A folder over itself, so that it cannot be renamed.
    Itself(PathBuf),
    ReadOnly(PathBuf),
    /// An empty folder over a folder.
    EmptyFolder(PathBuf),
    /// Nothing over a file or a socket.
    Nothing(PathBuf),
}

impl Mount {
    fn path(&self) -> &PathBuf {
        let (Self::Itself(path)
        | Self::ReadOnly(path)
        | Self::EmptyFolder(path)
        | Self::Nothing(path)) = self;
        path
    }

    /// As bubblewrap takes it.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        match self {
            Self::Itself(path) => vec!["--bind".into(), argument(path), argument(path)],
            Self::ReadOnly(path) => vec!["--ro-bind".into(), argument(path), argument(path)],
            Self::EmptyFolder(path) => vec![
                "--tmpfs".into(),
                argument(path),
                "--remount-ro".into(),
                argument(path),
            ],
            Self::Nothing(path) => vec!["--ro-bind".into(), "/dev/null".into(), argument(path)],
        }
    }

    fn apply(&self) -> io::Result<()> {
        let done = match self {
            Self::Itself(path) => mount_bind_recursive(path, path),
            Self::ReadOnly(path) => {
                mount_bind_recursive(path, path).and_then(|()| make_read_only(path))
            }
            Self::EmptyFolder(path) => {
                let flags = MountFlags::RDONLY
                    | MountFlags::NOSUID
                    | MountFlags::NODEV
                    | MountFlags::NOEXEC;
                mount("tmpfs", path, "tmpfs", flags, c"size=4k,mode=755")
            }
            Self::Nothing(path) => mount_bind("/dev/null", path),
        };
        match (self, done) {
            // What cannot be reached needs no cover.
            (_, Ok(()))
            | (
                Self::EmptyFolder(_) | Self::Nothing(_),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS),
            ) => Ok(()),
            (_, Err(error)) => {
                let error = io::Error::from(error);
                let text = format!("mount {}: {error}", self.path().display());
                Err(io::Error::new(error.kind(), text))
            }
        }
    }
}

/// What else holds of a mount has to be said again.
fn make_read_only(path: &Path) -> rustix::io::Result<()> {
    let held = statvfs(path)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (is_held, flag) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        if held.contains(is_held) {
            flags |= flag;
        }
    }
    mount_remount(path, flags, c"")
}

/// Mounts what was planned, seen by this namespace alone.
pub(super) fn apply(mounts: &[Mount]) -> io::Result<()> {
    // What the machine unmounts later goes here, too; nothing goes the other way.
    mount_change(
        "/",
        MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC,
    )
    .map_err(io::Error::from)?;
    own_terminals();
    mounts.iter().try_for_each(Mount::apply)
}

/// Pseudo terminals apart from those of the machine; commands do without where that cannot be had.
fn own_terminals() {
    let options: &CStr = c"newinstance,ptmxmode=0666,mode=620";
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    if mount("devpts", "/dev/pts", "devpts", flags, options).is_ok()
        && !Path::new("/dev/ptmx").is_symlink()
    {
        mount_bind("/dev/pts/ptmx", "/dev/ptmx").ok();
    }
}

/// Returns what has to be mounted for an order, what lies above first.
pub(super) fn plan(order: &Order) -> Vec<Mount> {
    let keys = match order.keys {
        Keys::Readable => order.within(&order.hidden),
        Keys::Hidden => BTreeSet::new(),
    };
    let read_only: Vec<&PathBuf> = order
        .protected
        .iter()
        .filter(|path| is_inside(path, &order.writable))
        .filter(|path| can_be_mounted(path))
        .chain(&keys)
        .collect();
    let covers = covers(order);
    let covered = covers.iter().map(Mount::path);
    // Where the project's parents can be written, the project itself stays where it is, too.
    let project = order.writable.first();
    let on_the_way: BTreeSet<&Path> = read_only
        .iter()
        .copied()
        .chain(covered)
        .flat_map(|path| path.ancestors().skip(1))
        .chain(project.iter().flat_map(|path| path.ancestors()))
        .filter(|folder| can_be_mounted(folder))
        .filter(|folder| order.writable.iter().any(|root| folder.starts_with(root)))
        // What anybody may use is not renamed.
        .filter(|folder| !is_shared(folder))
        .collect();
    let itself = on_the_way
        .into_iter()
        .map(|path| Mount::Itself(path.to_owned()));
    let read_only = read_only
        .into_iter()
        .map(|path| Mount::ReadOnly(path.clone()));
    let mut all: Vec<Mount> = itself.chain(read_only).collect();
    all.extend(covers);
    all
}

fn is_shared(folder: &Path) -> bool {
    super::super::TEMPORARY
        .iter()
        .any(|shared| folder == Path::new(shared))
}

/// Covers for the sockets of services that could be asked to do what the command may not do, and for what lies in
/// writable folders although it is kept.
fn covers(order: &Order) -> Vec<Mount> {
    let listening = fs::read_to_string(SOCKETS).unwrap_or_default();
    let listening: Vec<Socket> = listening.lines().filter_map(Socket::listening).collect();
    let listening = absolute(&listening);
    let listening = listening
        .into_iter()
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| !is_of_project(path, order))
        .filter(|path| {
            let is_of_network = OF_THE_NETWORK.iter().any(|folder| path.starts_with(folder));
            order.network == Network::Isolated || !is_of_network
        });
    let mut paths: BTreeSet<PathBuf> = SERVICES
        .iter()
        .map(PathBuf::from)
        .chain(listening)
        .collect();
    paths.extend(agent(order).cloned());
    paths.extend(hidden_folders(order));
    paths.extend(order.within(&order.kept));
    if order.keys == Keys::Hidden {
        paths.extend(order.within(&order.hidden));
    }
    // By their real names, and what lies in a covered folder is covered with it.
    let real: BTreeSet<PathBuf> = paths
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let kept_open: Vec<PathBuf> = match agent(order) {
        Some(_) => Vec::new(),
        None => order.agent.iter().cloned().collect(),
    };
    let outermost: Vec<PathBuf> = real
        .iter()
        .filter(|path| !path.ancestors().skip(1).any(|above| real.contains(above)))
        .cloned()
        .collect();
    Grants::new(&outermost, &kept_open)
        .paths()
        .map(|path| {
            if path.is_dir() {
                Mount::EmptyFolder(path.clone())
            } else {
                Mount::Nothing(path.clone())
            }
        })
        .collect()
}

/// Returns whether a socket is one of the project's own servers. A project that holds hidden paths, as the home folder
/// does, has none: services of the person listen there too.
fn is_of_project(socket: &Path, order: &Order) -> bool {
    let project = order.writable.first();
    let Some((project, below)) =
        project.and_then(|project| Some((project, socket.strip_prefix(project).ok()?)))
    else {
        return false;
    };
    let is_hidden = order.hidden.iter().any(|hidden| {
        let hidden = resolve_links(hidden);
        hidden.starts_with(project) || socket.starts_with(hidden)
    });
    let is_of_service = below
        .iter()
        .any(|name| OF_SERVICES.iter().any(|service| name == *service));
    !is_hidden && !is_of_service
}

/// Returns the folders of keys that a command may not read. Agents and open connections have sockets there, whatever
/// their names are by now.
fn hidden_folders(order: &Order) -> impl Iterator<Item = PathBuf> {
    let hidden = order.hidden.iter().filter(|_| order.keys == Keys::Hidden);
    hidden
        .map(|path| resolve_links(path))
        .filter(|path| path.is_dir())
        // A project may lie in such a folder.
        .filter(|path| !order.writable.iter().any(|root| root.starts_with(path)))
}

/// A socket that somebody listens on, by the name that it was bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Socket {
    inode: String,
    path: PathBuf,
}

impl Socket {
    /// Reads a line of `/proc/net/unix`; `None` where nobody listens, or no file is there.
    fn listening(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let flags = u32::from_str_radix(words.nth(3)?, 16).ok()?;
        let inode = words.nth(2)?;
        let path = words.next()?;
        let is_open = flags & LISTENS != 0 && !path.starts_with('@');
        // The rest of the line: a path may hold blanks.
        let start = line.rfind(&format!("{inode} {path}"))? + inode.len() + 1;
        is_open.then(|| Self {
            inode: inode.to_owned(),
            path: PathBuf::from(&line[start..]),
        })
    }
}

/// Returns the paths of sockets. One that was bound by a relative path is looked for in the working folders of those
/// who have it open.
fn absolute(sockets: &[Socket]) -> Vec<PathBuf> {
    let (mut paths, relative): (Vec<_>, Vec<_>) =
        sockets.iter().partition(|socket| socket.path.is_absolute());
    let mut found: Vec<PathBuf> = paths.drain(..).map(|socket| socket.path.clone()).collect();
    if relative.is_empty() {
        return found;
    }
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = process.path();
        let Ok(folder) = fs::read_link(process.join("cwd")) else {
            continue;
        };
        let open = fs::read_dir(process.join("fd")).into_iter().flatten();
        for link in open
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok())
        {
            let inode = link.to_str().and_then(|link| link.strip_prefix("socket:["));
            let inode = inode.and_then(|inode| inode.strip_suffix(']'));
            let named = relative
                .iter()
                .filter(|socket| inode == Some(socket.inode.as_str()));
            found.extend(named.map(|socket| folder.join(&socket.path)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_with_a_path_that_listen_are_covered() {
        for (line, expected) in [
            (
                "0000000000000000: 00000002 00000000 00010000 0001 01 123 run/a b",
                Some("run/a b"),
            ),
            (
                "0000000000000000: 00000002 00000000 00010000 0001 01 123 /run/a b",
                Some("/run/a b"),
            ),
            (
                "0000000000000000: 00000002 00000000 00000000 0001 03 123 /run/a",
                None,
            ),
            (
                "0000000000000000: 00000002 00000000 00010000 0001 01 123 @abstract",
                None,
            ),
            (
                "0000000000000000: 00000003 00000000 00000000 0001 03 123",
                None,
            ),
            (
                "Num       RefCount Protocol Flags    Type St Inode Path",
                None,
            ),
        ] {
            let socket = Socket::listening(line);
            let expected = expected.map(|path| Socket {
                inode: "123".to_owned(),
                path: path.into(),
            });
            assert_eq!(socket, expected, "{line}");
        }
    }

    #[test]
    fn a_socket_is_of_the_project_unless_keys_or_services_are_there() {
        for (project, socket, expected) in [
            ("/home/me/p", "/home/me/p/run/server", true),
            ("/home/me/p", "/home/me/.server", false),
            ("/home/me/p", "/home/me/p/.docker/run/docker.sock", false),
            ("/home/me", "/home/me/p/server", false),
            ("/home", "/home/me/p/server", false),
            ("/home/me/.ssh/p", "/home/me/.ssh/p/server", false),
        ] {
            let order = Order {
                writable: vec![project.into(), "/tmp".into()],
                hidden: vec!["/home/me/.ssh".into()],
                ..Order::default()
            };
            let found = is_of_project(Path::new(socket), &order);
            assert_eq!(found, expected, "{project} {socket}");
        }
    }

    #[test]
    fn what_exists_is_read_only_and_its_folders_stay_where_they_are() {
        let root = tempfile::TempDir::new().unwrap();
        let project = root.path().canonicalize().unwrap();
        fs::create_dir_all(project.join(".git/hooks")).unwrap();
        fs::create_dir(project.join("real")).unwrap();
        std::os::unix::fs::symlink("real", project.join(".vscode")).unwrap();
        let below = |name: &str| project.join(name);
        let order = Order {
            writable: vec![project.clone()],
            protected: [".git/hooks", ".git/config", ".vscode"].map(below).to_vec(),
            ..Order::default()
        };
        let plan = plan(&order);
        assert_eq!(
            plan[..3],
            [
                Mount::Itself(project.clone()),
                Mount::Itself(below(".git")),
                Mount::ReadOnly(below(".git/hooks")),
            ]
        );
        assert!(
            plan[3..]
                .iter()
                .all(|mount| !matches!(mount, Mount::ReadOnly(_)))
        );
    }
}
