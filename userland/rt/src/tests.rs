use crate::{FileKind, SpawnRequest, StartupInfo, Stat, fd_of_unix, unix_of_fd};

#[test]
fn spawn_request_has_the_bytes_of_the_border_text() {
    let request = SpawnRequest {
        path: b"/bin/ls",
        args: &[b"ls", b"-l"],
        env: &[b"A=1"],
        cwd: b"",
        fds: &[(0, 5), (67, 9)],
        group: 1,
        ignored: 1 << 13,
    };
    let mut expected = Vec::new();
    expected.extend_from_slice(b"\x01\0\0\0\x07\0\0\0/bin/ls");
    expected.extend_from_slice(b"\x02\0\0\0\x02\0\0\0ls\x02\0\0\0-l");
    expected.extend_from_slice(b"\x01\0\0\0\x03\0\0\0A=1");
    expected.extend_from_slice(b"\0\0\0\0");
    expected.extend_from_slice(b"\x02\0\0\0\0\0\0\0\x05\0\0\0\x43\0\0\0\x09\0\0\0");
    expected.extend_from_slice(b"\x01\0\0\0\0\x20\0\0\0\0\0\0");
    assert_eq!(request.encode(), expected);
}

#[test]
fn unix_descriptors_from_three_lie_sixty_four_higher() {
    assert_eq!([0, 2, 3, 63].map(fd_of_unix), [0, 2, 67, 127]);
    assert_eq!([2, 3, 66, 67].map(unix_of_fd), [Some(2), None, None, Some(3)]);
}

#[test]
fn stat_decodes_every_field_of_the_border_text() {
    let mut raw = [0; 64];
    for (index, byte) in [1_u8, 2, 3, 4, 5, 6].into_iter().enumerate() {
        raw[index * 8] = byte;
    }
    raw[48..52].copy_from_slice(&0o040755_u32.to_le_bytes());
    raw[52] = 7;
    raw[56] = 8;
    raw[60] = 9;
    let stat = Stat::decode(&raw);
    assert_eq!((stat.ino, stat.nlink, stat.size), (1, 2, 3));
    assert_eq!((stat.atime_ns, stat.mtime_ns, stat.ctime_ns), (4, 5, 6));
    assert_eq!((stat.mode, stat.uid, stat.gid, stat.dev), (0o040755, 7, 8, 9));
    assert_eq!(stat.kind(), FileKind::Dir);
}

#[test]
fn startup_data_has_the_documented_layout() {
    let mut encoded = b"\x01\0\0\0\x01\0\0\0".to_vec();
    encoded.extend_from_slice(b"\x07\0\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\x0f\0\0\0\0\0\0\0");
    encoded.extend_from_slice(b"\x0a\0\0\0sh\0-c\0a b\0\x04\0\0\0A=1\0\x04\0\0\0/tmp");
    let started = StartupInfo::decode(&encoded).expect("the layout is that of the text");
    assert_eq!((started.keeps_state, started.at_ns), (true, 7));
    assert_eq!((started.ignored, started.descriptors), (1 << 13, 0b1111));
    assert_eq!(started.args().collect::<Vec<_>>(), [&b"sh"[..], b"-c", b"a b"]);
    assert_eq!(started.environ().collect::<Vec<_>>(), [b"A=1"]);
    assert_eq!(started.cwd, b"/tmp");
    assert_eq!(StartupInfo::decode(&encoded[..40]), None, "less than it says");
    encoded[0] = 2;
    assert_eq!(StartupInfo::decode(&encoded), None, "another version");
}
