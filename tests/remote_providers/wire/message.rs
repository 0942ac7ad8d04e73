//! Protobuf messages without a schema: field numbers and values.

use prost::encoding::{WireType, decode_key, decode_varint};

/// Calls `take` with every leaf field: its path of field numbers, and its value as text.
pub(crate) fn fields(name: &str, message: &[u8], take: &mut impl FnMut(String, String)) {
    for (number, field) in read(message).expect("a message of protobuf") {
        let name = format!("{name}.{number}");
        match field {
            Field::Number(number) => take(name, number.to_string()),
            Field::Bytes(bytes) => match (std::str::from_utf8(&bytes), read(&bytes)) {
                // Valid text is text, unless the field must be a message.
                (Ok(text), _) if !text.contains(|letter: char| letter.is_control() && letter != '\n') => {
                    take(name, text.to_owned());
                }
                (_, Some(inner)) if !inner.is_empty() => fields(&name, &bytes, take),
                (Ok(text), _) => take(name, text.to_owned()),
                (Err(_), _) => take(name, format!("{} bytes", bytes.len())),
            },
        }
    }
}

enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

/// Parses the fields of a message; `None` if the bytes are not a message.
fn read(mut bytes: &[u8]) -> Option<Vec<(u32, Field)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (number, kind) = decode_key(&mut bytes).ok()?;
        let field = match kind {
            WireType::Varint => Field::Number(decode_varint(&mut bytes).ok()?),
            WireType::SixtyFourBit => Field::Number(u64::from_le_bytes(*take_bytes(&mut bytes, 8)?.first_chunk()?)),
            WireType::ThirtyTwoBit => {
                Field::Number(u32::from_le_bytes(*take_bytes(&mut bytes, 4)?.first_chunk()?).into())
            }
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
                Field::Bytes(take_bytes(&mut bytes, length)?.to_vec())
            }
            WireType::StartGroup | WireType::EndGroup => return None,
        };
        fields.push((number, field));
    }
    Some(fields)
}

fn take_bytes<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}
