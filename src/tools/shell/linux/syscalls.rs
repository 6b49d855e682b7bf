//! System calls that no command needs and that lead out, refused by seccomp. Unit: this process and all it starts.
//!
//! What is looked at is a number and its plain arguments; calls that hide them behind a pointer (`clone3`, `openat2`)
//! are said not to exist, so that libraries use the older ones.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter, sock_filter,
};

/// Whether sockets of the internet may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Internet {
    Allowed,
    Refused,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Newer than the tables of libc; the same number everywhere.
const FCHMODAT2: i64 = 452;
const OPEN_TREE_ATTR: i64 = 467;

/// Refused with `EPERM`, whatever the arguments.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_open_by_handle_at,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Calls that change limits or priorities of a process, with the argument that names it: 0 is the caller, and no filter
/// knows which other numbers are the command's own.
const OF_PROCESS: &[(i64, u8)] = &[
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// First argument that means all processes of a user, of whom 0 is the caller's.
const OF_USER: &[(i64, libc::c_int)] = &[
    (libc::SYS_setpriority, PRIO_USER),
    (libc::SYS_ioprio_set, IOPRIO_WHO_USER),
];
const PRIO_USER: libc::c_int = 2;
const IOPRIO_WHO_USER: libc::c_int = 3;

/// Said not to exist: the older calls are looked at instead.
const MISSING: &[i64] = &[libc::SYS_clone3, libc::SYS_openat2];

const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Calls that set the mode of a file, with the argument that holds it.
const SET_MODE: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Calls that open files, with the argument that holds the flags; the mode comes next.
const OPEN: &[(i64, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

const MAKE_NODE: &[(i64, u8)] = &[
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Flags of `open` by which a file comes to be; without them the mode is whatever was there.
const CREATES: [libc::c_int; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Bits of a mode by which a program runs as somebody else.
const SET_ID: [libc::mode_t; 2] = [libc::S_ISUID, libc::S_ISGID];

/// The family of a socket is its first argument, the type its second.
const FAMILY: u8 = 0;
const TYPE: u8 = 1;
const TYPE_MASK: u64 = 0xf;

const FAMILIES: [libc::c_int; 4] = [
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// The old way to whole packets.
const SOCK_PACKET: libc::c_int = 10;

const INTERNET: [libc::c_int; 2] = [libc::AF_INET, libc::AF_INET6];

/// Refuses from now on what the tables say.
pub(super) fn refuse(internet: Internet) -> Result<(), Error> {
    apply_filter(&compiled(refused(internet)?, libc::EPERM)?)?;
    let missing = MISSING.iter().map(|call| (*call, Vec::new())).collect();
    apply_filter(&compiled(missing, libc::ENOSYS)?)
}

fn refused(internet: Internet) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    let mut add = |call: i64, conditions: Vec<SeccompCondition>| {
        let rule = SeccompRule::new(conditions)?;
        rules.entry(call).or_default().push(rule);
        Ok::<(), BackendError>(())
    };
    for flag in NAMESPACES {
        add(libc::SYS_clone, vec![has(0, flag)?])?;
    }
    for bit in SET_ID {
        for (call, mode) in SET_MODE {
            add(*call, vec![has(*mode, bit)?])?;
        }
        for (call, flags) in OPEN {
            for creates in CREATES {
                add(*call, vec![has(*flags, creates)?, has(flags + 1, bit)?])?;
            }
        }
    }
    for device in [libc::S_IFCHR, libc::S_IFBLK] {
        for (call, mode) in MAKE_NODE {
            add(
                *call,
                vec![masked(*mode, libc::S_IFMT.into(), device.into())?],
            )?;
        }
    }
    for family in [libc::SYS_socket, libc::SYS_socketpair] {
        let others = FAMILIES.iter().map(|known| is_not(FAMILY, *known));
        add(family, others.collect::<Result<_, _>>()?)?;
    }
    for family in INTERNET {
        match internet {
            Internet::Refused => add(libc::SYS_socket, vec![is(FAMILY, family)?])?,
            Internet::Allowed => {
                for raw in [libc::SOCK_RAW, SOCK_PACKET] {
                    let kind = masked(TYPE, TYPE_MASK, bits(raw))?;
                    add(libc::SYS_socket, vec![is(FAMILY, family)?, kind])?;
                }
            }
        }
    }
    for (call, process) in OF_PROCESS {
        add(*call, vec![is_not(*process, 0)?])?;
    }
    for (call, user) in OF_USER {
        add(*call, vec![is(0, *user)?])?;
    }
    // A process of the command may look at the limits of others; a limit of no CPU time kills.
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    add(libc::SYS_prlimit64, vec![is_not(0, 0)?, sets])?;
    // Types into a terminal what another program reads.
    add(
        libc::SYS_ioctl,
        vec![masked(1, u32::MAX.into(), libc::TIOCSTI)?],
    )?;
    add(
        libc::SYS_ioctl,
        vec![masked(1, u32::MAX.into(), TIOCLINUX)?],
    )?;
    rules.extend(REFUSED.iter().map(|call| (*call, Vec::new())));
    Ok(rules)
}

const TIOCLINUX: u64 = 0x541c;

fn bits(value: libc::c_int) -> u64 {
    u64::from(value.cast_unsigned())
}

/// All bits of the value are set.
fn has(argument: u8, value: impl TryInto<u32>) -> Result<SeccompCondition, BackendError> {
    let value = value.try_into().map_or(0, u64::from);
    masked(argument, value, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, BackendError> {
    let compare = SeccompCmpOp::MaskedEq(mask);
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
}

fn is(argument: u8, value: libc::c_int) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        bits(value),
    )
}

fn is_not(argument: u8, value: libc::c_int) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        bits(value),
    )
}

fn compiled(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.cast_unsigned()),
        std::env::consts::ARCH.try_into()?,
    )?;
    let mut program: BpfProgram = NO_X32.to_vec();
    program.extend(BpfProgram::try_from(filter)?);
    Ok(program)
}

/// The other set of numbers on `x86_64`, which the rules would not know: `ENOSYS`.
#[cfg(target_arch = "x86_64")]
const NO_X32: [sock_filter; 3] = [
    // Load the number of the call.
    sock_filter {
        code: 0x20,
        jt: 0,
        jf: 0,
        k: 0,
    },
    // Jump over the next line where the bit is not set.
    sock_filter {
        code: 0x45,
        jt: 0,
        jf: 1,
        k: 0x4000_0000,
    },
    sock_filter {
        code: 0x06,
        jt: 0,
        jf: 0,
        k: 0x0005_0000 | libc::ENOSYS.cast_unsigned(),
    },
];

#[cfg(not(target_arch = "x86_64"))]
const NO_X32: [sock_filter; 0] = [];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_compile_for_this_machine() {
        for internet in [Internet::Allowed, Internet::Refused] {
            let program = compiled(refused(internet).unwrap(), libc::EPERM).unwrap();
            assert!(program.len() < 4096, "{}", program.len());
        }
    }

    #[test]
    fn a_mode_is_only_looked_at_where_a_file_is_made() {
        assert_eq!(CREATES[1] & libc::O_DIRECTORY, 0);
        assert_ne!(CREATES[1], 0);
    }
}
