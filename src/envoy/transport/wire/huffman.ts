/**
 * HPACK's Huffman code (RFC 7541, appendix B). It is canonical: codes of one length follow each other in the
 * order of their symbols, and shorter codes come first. So it is defined by the lengths.
 */

/** Symbols by the length of their code in bits. 256, the end of string, has 30 ones and must not occur. */
const SYMBOLS_BY_LENGTH: readonly (readonly [bits: number, symbols: readonly number[]])[] = [
  [5, [48, 49, 50, 97, 99, 101, 105, 111, 115, 116]],
  [
    6,
    [
      32, 37, 45, 46, 47, 51, 52, 53, 54, 55, 56, 57, 61, 65, 95, 98, 100, 102, 103, 104, 108, 109, 110, 112,
      114, 117,
    ],
  ],
  [
    7,
    [
      58, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 89, 106,
      107, 113, 118, 119, 120, 121, 122,
    ],
  ],
  [8, [38, 42, 44, 59, 88, 90]],
  [10, [33, 34, 40, 41, 63]],
  [11, [39, 43, 124]],
  [12, [35, 62]],
  [13, [0, 36, 64, 91, 93, 126]],
  [14, [94, 125]],
  [15, [60, 96, 123]],
  [19, [92, 195, 208]],
  [20, [128, 130, 131, 162, 184, 194, 224, 226]],
  [21, [153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230]],
  [
    22,
    [
      129, 132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190,
      196, 198, 228, 232, 233,
    ],
  ],
  [
    23,
    [
      1, 135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168, 174, 175,
      180, 182, 183, 188, 191, 197, 231, 239,
    ],
  ],
  [24, [9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237]],
  [25, [199, 207, 234, 235]],
  [26, [192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255]],
  [27, [203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245, 246, 247, 248, 250, 251, 252, 253, 254]],
  [
    28,
    [
      2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 127,
      220, 249,
    ],
  ],
  [30, [10, 13, 22, 256]],
];

const END_OF_STRING = 256;
/** More bits than this without a symbol, or any zero among them, are not padding. */
const MAX_PADDING_BITS = 7;

/** The code as a binary tree in one array: at `2 * node + bit` the next node, or a symbol as `~symbol`. */
const TREE = createTree();

function createTree(): Int16Array {
  const tree = new Int16Array(2 * 257);
  let nodes = 1;
  let code = 0;
  let previousBits = 0;
  for (const [bits, symbols] of SYMBOLS_BY_LENGTH) {
    for (const symbol of symbols) {
      code <<= bits - previousBits;
      previousBits = bits;
      let node = 0;
      for (let bit = bits - 1; bit > 0; bit -= 1) {
        const at = 2 * node + ((code >>> bit) & 1);
        if (tree[at] === 0) tree[at] = nodes++;
        node = tree[at] ?? 0;
      }
      tree[2 * node + (code & 1)] = ~symbol;
      code += 1;
    }
  }
  return tree;
}

/** Decodes the bytes to text with one character per byte; null if they are invalid. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string | null {
  const codes: number[] = [];
  let node = 0;
  /** Bits since the last symbol; `areOnes` is true if all of them were ones. */
  let bits = 0;
  let isPadding = true;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    for (let shift = 7; shift >= 0; shift -= 1) {
      const bit = (byte >>> shift) & 1;
      const next = TREE[2 * node + bit] ?? 0;
      bits += 1;
      isPadding &&= bit === 1;
      if (next >= 0) {
        node = next;
        continue;
      }
      if (~next === END_OF_STRING) return null;
      codes.push(~next);
      node = 0;
      bits = 0;
      isPadding = true;
    }
  }
  if (bits > MAX_PADDING_BITS || !isPadding) return null;
  return Buffer.from(codes).toString("latin1");
}
