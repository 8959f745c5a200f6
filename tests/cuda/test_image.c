/* Formats, views and shared arithmetic against values written out by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arith.h"
#include "image.h"
#include "report.h"

#define N_ELEMENTS(array) ((int) (sizeof (array) / sizeof ((array)[0])))

#define CHECK_INT(what, got, expected) \
  check_int (what, (long long) (got), (long long) (expected))

static void
check_int (const char *what, long long got, long long expected)
{
  report_case ();
  if (got != expected)
    report_failure ("%s: %lld, must be %lld", what, got, expected);
}

static void
check_double (const char *what, double got, double expected)
{
  report_case ();
  if (!(fabs (got - expected) <= 1e-9))
    report_failure ("%s: %.12g, must be %.12g", what, got, expected);
}

/* Sizes of a 5×3 picture: planes as "channels width height", and the block
 * that holds them with rows padded to 4 bytes, as GstVideoInfo has it. */
static const struct
{
  const char *name;
  int depth, shift, bytes;
  const char *planes;
  size_t size;
} formats[] = {
  { "RGB", 8, 0, 1, "RGB 5 3;", 48 },
  { "BGR", 8, 0, 1, "BGR 5 3;", 48 },
  { "RGBA", 8, 0, 1, "RGBA 5 3;", 60 },
  { "BGRA", 8, 0, 1, "BGRA 5 3;", 60 },
  { "ARGB", 8, 0, 1, "ARGB 5 3;", 60 },
  { "ABGR", 8, 0, 1, "ABGR 5 3;", 60 },
  { "RGBx", 8, 0, 1, "RGBX 5 3;", 60 },
  { "BGRx", 8, 0, 1, "BGRX 5 3;", 60 },
  { "xRGB", 8, 0, 1, "XRGB 5 3;", 60 },
  { "xBGR", 8, 0, 1, "XBGR 5 3;", 60 },
  { "RGBP", 8, 0, 1, "R 5 3;G 5 3;B 5 3;", 72 },
  { "BGRP", 8, 0, 1, "B 5 3;G 5 3;R 5 3;", 72 },
  { "GBR", 8, 0, 1, "G 5 3;B 5 3;R 5 3;", 72 },
  { "GBRA", 8, 0, 1, "G 5 3;B 5 3;R 5 3;A 5 3;", 96 },
  { "I420", 8, 0, 1, "Y 5 3;U 3 2;V 3 2;", 40 },
  { "YV12", 8, 0, 1, "Y 5 3;V 3 2;U 3 2;", 40 },
  { "NV12", 8, 0, 1, "Y 5 3;UV 3 2;", 40 },
  { "NV21", 8, 0, 1, "Y 5 3;VU 3 2;", 40 },
  { "Y42B", 8, 0, 1, "Y 5 3;U 3 3;V 3 3;", 48 },
  { "Y444", 8, 0, 1, "Y 5 3;U 5 3;V 5 3;", 72 },
  { "P010_10LE", 10, 6, 2, "Y 5 3;UV 3 2;", 60 },
  { "P016_LE", 16, 0, 2, "Y 5 3;UV 3 2;", 60 },
  { "I420_10LE", 10, 0, 2, "Y 5 3;U 3 2;V 3 2;", 68 },
  { "Y444_16LE", 16, 0, 2, "Y 5 3;U 5 3;V 5 3;", 108 },
  { "GRAY8", 8, 0, 1, "Y 5 3;", 24 },
  { "GRAY16_LE", 16, 0, 2, "Y 5 3;", 36 },
};

static void
describe_planes (const ImgView *view, char *text, size_t size)
{
  size_t used = 0;

  text[0] = '\0';
  for (int i = 0; i < view->n_planes; i++) {
    const ImgPlane *p = &view->plane[i];

    for (int c = 0; c < p->channels; c++)
      used += (size_t) snprintf (text + used, size - used, "%c",
          "YUVRGBAX"[p->channel[c]]);
    used += (size_t) snprintf (text + used, size - used, " %d %d;", p->width,
        p->height);
  }
}

static void
test_formats (void)
{
  int n = 0;

  report_begin ("image formats");
  while (img_format_at (n))
    n++;
  CHECK_INT ("formats in the table", n, N_ELEMENTS (formats));
  CHECK_INT ("format -1", img_format_at (-1) == NULL, 1);
  CHECK_INT ("an unknown format", img_format_find ("nv12") == NULL, 1);
  for (int i = 0; i < N_ELEMENTS (formats); i++) {
    const ImgFormat *format = img_format_find (formats[i].name);
    char planes[128];
    ImgView view;

    report_case ();
    if (!format) {
      report_failure ("no format %s", formats[i].name);
      continue;
    }
    img_view_init (&view, format, 5, 3);
    describe_planes (&view, planes, sizeof (planes));
    if (strcmp (planes, formats[i].planes) != 0)
      report_failure ("%s: \"%s\", must be \"%s\"", format->name, planes,
          formats[i].planes);
    CHECK_INT (format->name, view.depth, formats[i].depth);
    CHECK_INT (format->name, view.shift, formats[i].shift);
    CHECK_INT (format->name, view.component_bytes, formats[i].bytes);
    CHECK_INT (format->name, view.full_range, view.model != IMG_MODEL_YUV);
    CHECK_INT (format->name, img_view_lay_out (&view, NULL, 4),
        formats[i].size);
  }
  report_end ();
}

static void
test_layout (void)
{
  static char block[256];
  ImgView view, other;

  report_begin ("image layout");
  img_view_init (&view, img_format_find ("NV12"), 5, 3);
  CHECK_INT ("matrix of 3 lines", view.matrix, IMG_MATRIX_BT601);
  CHECK_INT ("row of Y", img_plane_row_bytes (&view, &view.plane[0]), 5);
  CHECK_INT ("row of UV", img_plane_row_bytes (&view, &view.plane[1]), 6);
  CHECK_INT ("size", img_view_lay_out (&view, block, 16), 16 * 3 + 16 * 2);
  CHECK_INT ("Y", (char *) view.plane[0].data - block, 0);
  CHECK_INT ("UV", (char *) view.plane[1].data - block, 48);
  CHECK_INT ("stride of UV", view.plane[1].stride, 16);
  img_view_init (&other, img_format_find ("NV12"), 5, 3);
  CHECK_INT ("same but for memory", img_view_same_layout (&view, &other), 1);
  other.full_range = true;
  CHECK_INT ("another range", img_view_same_layout (&view, &other), 0);
  img_view_init (&other, img_format_find ("NV21"), 5, 3);
  CHECK_INT ("another order", img_view_same_layout (&view, &other), 0);
  img_view_init (&other, img_format_find ("NV12"), 6, 3);
  CHECK_INT ("another width", img_view_same_layout (&view, &other), 0);
  img_view_init (&view, img_format_find ("P010_10LE"), 1280, 577);
  CHECK_INT ("matrix of 577 lines", view.matrix, IMG_MATRIX_BT709);
  CHECK_INT ("row of P010", img_plane_row_bytes (&view, &view.plane[1]), 2560);
  report_end ();
}

/* Rows of luma and chroma in the fields of pictures of each height. */
static void
test_fields (void)
{
  static const struct
  {
    int height, luma[2], chroma[2];
  } rows[] = {
    { 1, { 1, 0 }, { 1, 0 } }, { 2, { 1, 1 }, { 1, 0 } },
    { 3, { 2, 1 }, { 1, 1 } }, { 4, { 2, 2 }, { 1, 1 } },
    { 5, { 3, 2 }, { 2, 1 } }, { 6, { 3, 3 }, { 2, 1 } },
    { 7, { 4, 3 }, { 2, 2 } }, { 8, { 4, 4 }, { 2, 2 } },
  };
  static char block[256];

  report_begin ("image fields");
  for (int i = 0; i < N_ELEMENTS (rows); i++)
    for (int f = 0; f < 2; f++) {
      ImgView view, field;

      img_view_init (&view, img_format_find ("I420"), 4, rows[i].height);
      img_view_lay_out (&view, block, 4);
      field = img_view_field (&view, f);
      CHECK_INT ("height", field.height, rows[i].luma[f]);
      CHECK_INT ("rows of Y", field.plane[0].height, rows[i].luma[f]);
      CHECK_INT ("rows of U", field.plane[1].height, rows[i].chroma[f]);
      CHECK_INT ("rows of V", field.plane[2].height, rows[i].chroma[f]);
      CHECK_INT ("first row of Y", (char *) field.plane[0].data - block, 4 * f);
      CHECK_INT ("stride of Y", field.plane[0].stride, 8);
      CHECK_INT ("width", field.plane[1].width, 2);
    }
  report_end ();
}

/* Letters of a row abcdefgh from -10 to 17, '0' for the constant. */
static void
test_border (void)
{
  static const struct
  {
    ImgBorder border;
    int n;
    const char *letters;
  } rows[] = {
    { IMG_BORDER_REFLECT_101, 8, "efghgfedcbabcdefghgfedcbabcd" },
    { IMG_BORDER_REPLICATE, 8, "aaaaaaaaaaabcdefghhhhhhhhhhh" },
    { IMG_BORDER_REFLECT, 8, "ghhgfedcbaabcdefghhgfedcbaab" },
    { IMG_BORDER_WRAP, 8, "ghabcdefghabcdefghabcdefghab" },
    { IMG_BORDER_CONSTANT, 8, "0000000000abcdefgh0000000000" },
    { IMG_BORDER_REFLECT_101, 1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { IMG_BORDER_REFLECT, 1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { IMG_BORDER_WRAP, 1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { IMG_BORDER_CONSTANT, 1, "0000000000a00000000000000000" },
    { IMG_BORDER_REFLECT_101, 2, "abababababababababababababab" },
    { IMG_BORDER_REFLECT, 2, "baabbaabbaabbaabbaabbaabbaab" },
    { IMG_BORDER_WRAP, 3, "cabcabcabcabcabcabcabcabcabc" },
  };

  report_begin ("image border index");
  for (int i = 0; i < N_ELEMENTS (rows); i++)
    for (int k = 0; k < 28; k++) {
      int got = img_border_index (k - 10, rows[i].n, rows[i].border);
      char letter = got < 0 ? '0' : (char) ('a' + got);

      report_case ();
      if (letter != rows[i].letters[k])
        report_failure ("border %d, %d of %d: %c, must be %c", rows[i].border,
            k - 10, rows[i].n, letter, rows[i].letters[k]);
    }
  report_end ();
}

static void
test_levels (void)
{
  static const struct
  {
    const char *format;
    bool full_range;
    int max, black, white, neutral;
    double scaled_127, difference_10;
  } rows[] = {
    { "GRAY8", true, 255, 0, 255, 128, 127, 10 },
    { "GRAY16_LE", true, 65535, 0, 65535, 32768, 32639, 2570 },
    { "RGB", true, 255, 0, 255, 128, 127, 10 },
    { "NV12", false, 255, 16, 235, 128, 16 + 127 * 219 / 255.0,
          10 * 219 / 255.0 },
    { "NV12", true, 255, 0, 255, 128, 127, 10 },
    { "P010_10LE", false, 1023, 64, 940, 512, 64 + 127 * 876 / 255.0,
          10 * 876 / 255.0 },
    { "P010_10LE", true, 1023, 0, 1023, 512, 127 * 1023 / 255.0,
          10 * 1023 / 255.0 },
    { "I420_10LE", false, 1023, 64, 940, 512, 64 + 127 * 876 / 255.0,
          10 * 876 / 255.0 },
    { "P016_LE", false, 65535, 4096, 60160, 32768,
          4096 + 127 * 56064 / 255.0, 10 * 56064 / 255.0 },
  };

  report_begin ("image levels");
  for (int i = 0; i < N_ELEMENTS (rows); i++) {
    const char *name = rows[i].format;
    ImgLevels levels;
    ImgView view;

    img_view_init (&view, img_format_find (name), 4, 4);
    view.full_range = rows[i].full_range;
    levels = img_view_levels (&view);
    CHECK_INT (name, levels.max, rows[i].max);
    CHECK_INT (name, levels.black, rows[i].black);
    CHECK_INT (name, levels.white, rows[i].white);
    CHECK_INT (name, levels.neutral, rows[i].neutral);
    check_double (name, img_view_scale (&view, 0), rows[i].black);
    check_double (name, img_view_scale (&view, 255), rows[i].white);
    check_double (name, img_view_scale (&view, 127), rows[i].scaled_127);
    check_double (name, img_view_scale_difference (&view, 10),
        rows[i].difference_10);
  }
  report_end ();
}

static void
test_arithmetic (void)
{
  report_begin ("image arithmetic");
  CHECK_INT ("clamp below", img_clamp (-1, 0, 255), 0);
  CHECK_INT ("clamp within", img_clamp (7, 0, 255), 7);
  CHECK_INT ("clamp above", img_clamp (256, 0, 255), 255);
  CHECK_INT ("round 0.5", img_round_clamp (0.5f, 0, 255), 0);
  CHECK_INT ("round 1.5", img_round_clamp (1.5f, 0, 255), 2);
  CHECK_INT ("round 2.5", img_round_clamp (2.5f, 0, 255), 2);
  CHECK_INT ("round -0.4", img_round_clamp (-0.4f, -10, 255), 0);
  CHECK_INT ("round -1.6", img_round_clamp (-1.6f, -10, 255), -2);
  CHECK_INT ("round to low", img_round_clamp (15.4f, 16, 235), 16);
  CHECK_INT ("round to high", img_round_clamp (1e30f, 16, 235), 235);
  CHECK_INT ("round to low", img_round_clamp (-1e30f, 16, 235), 16);
  CHECK_INT ("round infinity", img_round_clamp (INFINITY, 16, 235), 235);
  CHECK_INT ("round NaN", img_round_clamp (NAN, 16, 235), 16);
  CHECK_INT ("luma of white", img_luma (255, 255, 255), 255);
  CHECK_INT ("luma of white", img_luma (65535, 65535, 65535), 65535);
  CHECK_INT ("luma of red", img_luma (255, 0, 0), 76);
  CHECK_INT ("luma of green", img_luma (0, 255, 0), 150);
  CHECK_INT ("luma of blue", img_luma (0, 0, 255), 29);
  CHECK_INT ("alpha", img_channel_is_color (IMG_CHANNEL_A), 0);
  CHECK_INT ("padding", img_channel_is_color (IMG_CHANNEL_X), 0);
  CHECK_INT ("luma", img_channel_is_color (IMG_CHANNEL_Y), 1);
  CHECK_INT ("U", img_channel_is_chroma (IMG_CHANNEL_U), 1);
  CHECK_INT ("V", img_channel_is_chroma (IMG_CHANNEL_V), 1);
  CHECK_INT ("luma", img_channel_is_chroma (IMG_CHANNEL_Y), 0);
  report_end ();
}

int
main (void)
{
  test_formats ();
  test_layout ();
  test_fields ();
  test_border ();
  test_levels ();
  test_arithmetic ();
  return report_finish ();
}
