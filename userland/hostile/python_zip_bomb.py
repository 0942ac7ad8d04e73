# Expands a compressed stream of a gigabyte to memory.
import zlib
packer = zlib.compressobj(9)
chunk = bytes(1 << 20)
packed = b"".join(packer.compress(chunk) for _ in range(1 << 10)) + packer.flush()
zlib.decompress(packed)
