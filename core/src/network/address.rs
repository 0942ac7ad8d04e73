//! Classification of addresses as public or not.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks outside the public internet, as (first address, prefix length): the blocks of IANA's IPv4 special-purpose registry
/// that are not globally reachable, multicast and reserved blocks, and one public-looking address by which a cloud distributes
/// host credentials.
const CLOSED_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    // Shared by carriers (CGNAT); one cloud's metadata service is 100.100.100.200.
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // Link-local; most clouds' metadata service is 169.254.169.254.
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 52, 193, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([192, 175, 48, 0], 24),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // Azure's wire server.
    ([168, 63, 129, 16], 32),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Blocks inside the global unicast space 2000::/3 that are not the public internet or carry an IPv4 address inside.
const CLOSED_V6: &[([u16; 8], u32)] = &[
    // Protocol assignments: Teredo, benchmarking, ORCHID and similar blocks.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    // 6to4.
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

/// Returns whether an address belongs to the public internet. Everything else is denied: private, loopback, link-local,
/// carrier-shared, documentation, multicast and reserved addresses, metadata services, and every form of IPv6 address that
/// contains an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo), because its destination depends on the router.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !CLOSED_V4.iter().any(|(first, prefix)| within_v4(address, *first, *prefix)),
        // Only 2000::/3 is global unicast; all other forms lie outside.
        IpAddr::V6(address) => {
            within_v6(address, [0x2000, 0, 0, 0, 0, 0, 0, 0], 3)
                && !CLOSED_V6.iter().any(|(first, prefix)| within_v6(address, *first, *prefix))
        }
    }
}

fn within_v4(address: Ipv4Addr, first: [u8; 4], prefix: u32) -> bool {
    let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
    address.to_bits() & mask == u32::from_be_bytes(first) & mask
}

fn within_v6(address: Ipv6Addr, first: [u16; 8], prefix: u32) -> bool {
    let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
    address.to_bits() & mask == Ipv6Addr::from(first).to_bits() & mask
}
