#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""extract-vmlinux.py VMLINUZ OUT: writes the uncompressed ELF kernel found inside VMLINUZ."""
import lzma, re, subprocess, sys, zlib

def piped(*argv):
    return lambda b: subprocess.run(argv, input=b, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

FORMATS = ((b"\xfd7zXZ\x00", lambda b: lzma.LZMADecompressor().decompress(b)),
           (b"\x28\xb5\x2f\xfd", piped("zstd", "-dcq")),
           (b"\x1f\x8b\x08", lambda b: zlib.decompressobj(31).decompress(b)),
           (b"\x02!L\x18", piped("lz4", "-dc")))
data = open(sys.argv[1], "rb").read()
for magic, unpack in FORMATS:
    for hit in re.finditer(re.escape(magic), data):
        try:
            out = unpack(data[hit.start():])
        except Exception:
            continue
        if out[:4] == b"\x7fELF":
            open(sys.argv[2], "wb").write(out)
            sys.exit(0)
sys.exit("no kernel image found")
