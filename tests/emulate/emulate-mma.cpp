/* The instructions of ptx.cuh in which the lanes of a warp work together. What
 * a lane holds of a matrix is described in the PTX manual, "Matrix Fragments
 * for mma.m16n8k16" and "… mma.m16n8k32". */
#include "emulate.h"

namespace {

const int GROUPS = 8; /* of four lanes; a group has rows `group` and + 8 of */
                      /* a and c, and column `group` of b */

struct Fragments {
  unsigned a[4], b[2];
};

/* What all lanes have. */
const Fragments *
lanes (const EmulateSlot *slots, int group, int member)
{
  return (const Fragments *)slots[4 * group + member].bytes;
}

const EmulateSlot *
exchange (const unsigned a[4], unsigned b0, unsigned b1)
{
  const Fragments own = { { a[0], a[1], a[2], a[3] }, { b0, b1 } };

  return emulate_exchange (EMULATE_ALL_LANES, &own, sizeof (own));
}

float
half_of (unsigned word, int i)
{
  const unsigned pair = word >> 16 * i;

  return __low2float (*(const __half2 *)&pair);
}

/* Element i of c: its row, and its column. */
int
row_of (int i)
{
  return emulate_lane () / 4 + i / 2 * GROUPS;
}

int
column_of (int i)
{
  return emulate_lane () % 4 * 2 + i % 2;
}

/* The four blocks, whose rows are where lanes 0..31 say. */
void
load_blocks (unsigned r[4], const __half *row, bool transposed)
{
  const EmulateSlot *slots
      = emulate_exchange (EMULATE_ALL_LANES, &row, sizeof (row));
  const int lane = emulate_lane (), member = lane % 4 * 2;

  for (int block = 0; block < 4; block++) {
    uint16_t part[2];

    for (int i = 0; i < 2; i++) {
      const int y = transposed ? member + i : lane / 4;
      const int x = transposed ? lane / 4 : member + i;

      part[i] = emulate_value_of<const uint16_t *> (slots, 8 * block + y)[x];
    }
    r[block] = part[0] | (unsigned)part[1] << 16;
  }
}

} // namespace

void
ptx_load_blocks (unsigned r[4], const __half *row)
{
  load_blocks (r, row, false);
}

void
ptx_load_blocks_transposed (unsigned r[4], const __half *row)
{
  load_blocks (r, row, true);
}

void
ptx_mma_halves (float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
  const EmulateSlot *slots = exchange (a, b0, b1);

  for (int i = 0; i < 4; i++) {
    double sum = d[i];

    for (int k = 0; k < 16; k++) {
      const int member = k % 8 / 2, part = k / 8;
      const unsigned x
          = lanes (slots, row_of (i) % GROUPS, member)->a[2 * part + i / 2];
      const unsigned y = lanes (slots, column_of (i), member)->b[part];

      sum += (double)half_of (x, k % 2) * half_of (y, k % 2);
    }
    d[i] = (float)sum;
  }
}

void
ptx_mma_bytes (int c[4], const unsigned a[4], unsigned b0, unsigned b1)
{
  const EmulateSlot *slots = exchange (a, b0, b1);

  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 32; k++) {
      const int member = k % 16 / 4, part = k / 16;
      const unsigned x
          = lanes (slots, row_of (i) % GROUPS, member)->a[2 * part + i / 2];
      const unsigned y = lanes (slots, column_of (i), member)->b[part];

      c[i] += (int)(emulate_byte (x, k % 4) * emulate_byte (y, k % 4));
    }
}
