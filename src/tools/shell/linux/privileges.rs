//! Capabilities of a command: those that work on files one owns, and only as root. Unit: this process.

use std::io;

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER);

/// Drops everything but [`KEPT`] for this process and all it starts.
pub(super) fn drop_all() -> io::Result<()> {
    set_no_new_privs(true)?;
    let held = capabilities(None)?;
    // Without this one the set cannot be changed, and with no_new_privs nothing is ever taken from it but by root.
    if held.effective.contains(CapabilitySet::SETPCAP) {
        for bit in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << bit);
            match capability_is_in_bounding_set(capability) {
                Ok(true) if !KEPT.contains(capability) => {
                    remove_capability_from_bounding_set(capability)?;
                }
                Ok(_) => {}
                // The kernel knows no more.
                Err(_) => break,
            }
        }
    }
    match clear_ambient_capability_set() {
        Ok(()) | Err(Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    let sets = CapabilitySets {
        effective: held.effective & KEPT,
        permitted: held.permitted & KEPT,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(Into::into)
}
