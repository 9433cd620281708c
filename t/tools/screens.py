# SPDX-License-Identifier: LGPL-3.0-only
"""Pictures of a page against stored ones: a grid of mean colours, so that another font passes and another layout does not.

    screens.py store PNG FILE      FILE gets the grid of a picture
    screens.py compare PNG FILE    exit code 1 where more than a hundredth of the cells have another colour

The picture is one by Page.screenshot(scale=0.1): a cell is 40 by 20 pixels of the page. FILE has a line for each row of cells, three
hexadecimal digits for the red, green and blue of a cell."""
import struct
import sys
import zlib

CELL_WIDTH, CELL_HEIGHT = 4, 2  # pixels of the small picture
LEVELS_APART = 3  # a cell has another colour where the levels of its channels, of 16 each, differ by more together
PART_MAX = 0.01


def pixels(path):
    """Rows of (red, green, blue) of a PNG of eight bits a channel that is not interlaced."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed, head = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    width, height, bits, kind, _, _, interlaced = head
    step = {2: 3, 6: 4}[kind]
    assert bits == 8 and interlaced == 0, path
    raw, above, rows = zlib.decompress(packed), bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        line = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + width * step]), above, step)
        rows.append([tuple(line[x * step:x * step + 3]) for x in range(width)])
        above = line
    return rows


def unfiltered(kind, line, above, step):
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = left + above[i] - corner
        nearest = min((abs(guess - left), 0, left), (abs(guess - above[i]), 1, above[i]), (abs(guess - corner), 2, corner))[2]
        line[i] = (line[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[kind]) & 255
    return line


def grid(path):
    rows = pixels(path)
    lines = []
    for y in range(0, len(rows) - CELL_HEIGHT + 1, CELL_HEIGHT):
        line = []
        for x in range(0, len(rows[0]) - CELL_WIDTH + 1, CELL_WIDTH):
            cell = [rows[y + j][x + i] for j in range(CELL_HEIGHT) for i in range(CELL_WIDTH)]
            line.append(tuple(sum(pixel[c] for pixel in cell) // len(cell) // 16 for c in range(3)))
        lines.append(line)
    return lines


def stored(path):
    lines = open(path, encoding="ascii").read().split()
    return [[tuple(int(line[i + c], 16) for c in range(3)) for i in range(0, len(line), 3)] for line in lines]


def part_apart(one, other):
    """Of the cells of both, those that have another colour, or that one of them lacks."""
    apart = cells = 0
    for y in range(max(len(one), len(other))):
        a, b = (rows[y] if y < len(rows) else [] for rows in (one, other))
        cells += max(len(a), len(b))
        apart += abs(len(a) - len(b)) + sum(sum(map(lambda p, q: abs(p - q), *pair)) > LEVELS_APART for pair in zip(a, b))
    return apart / cells


def main():
    what, png, path = sys.argv[1:]
    if what == "store":
        with open(path, "w", encoding="ascii") as file:
            file.writelines("".join("%x%x%x" % cell for cell in line) + "\n" for line in grid(png))
        return 0
    part = part_apart(grid(png), stored(path))
    print(f"{png}: {part:.1%} of the cells are not those of {path}")
    return 1 if part > PART_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
