/* What a buffer brings with it: its layout, its crop rectangle, its fields,
 * its times and metas, and who else holds it. */
#include "helper.h"

#define GUARD 0xa5

GST_START_TEST (test_odd_sizes)
{
  static const gchar *const sizes[] = { "width=1,height=1",
    "width=1,height=5", "width=5,height=1", "width=2,height=2",
    "width=3,height=5", "width=13,height=42", "width=65,height=33"
  };
  static const gchar *const formats[] = { "GRAY8", "RGB", "I420", "NV12",
    "Y42B", "GBRA", "P010_10LE"
  };

  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], backend_name (__i__),
        NULL);

    for (guint i = 0; i < G_N_ELEMENTS (sizes) * G_N_ELEMENTS (formats); i++) {
      gchar *fields = g_strdup_printf ("format=%s,%s",
          formats[i % G_N_ELEMENTS (formats)],
          sizes[i / G_N_ELEMENTS (formats)]);
      Picture *in = picture_new (fields, i);

      assert_filtered (h, in);
      picture_free (in);
      g_free (fields);
    }
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* who else holds the buffer */

/* A buffer that somebody else still has must not change. */
GST_START_TEST (test_not_writable)
{
  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], backend_name (__i__),
        NULL);
    Picture *in = picture_new ("format=NV12,width=22,height=12", e), *after;
    GstBuffer *buffer = picture_to_buffer (in), *out;

    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    out = filter_harness_run (h, gst_buffer_ref (buffer));
    fail_unless (out != buffer, "%s gives back a buffer that is not its own",
        filter_names[e]);
    after = picture_from_buffer (buffer, in->caps);
    assert_pictures_equal (in, after, 0, "the input after its use");
    assert_filter_result (h->element, in, out, FALSE);
    picture_free (after);
    picture_free (in);
    gst_buffer_unref (buffer);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* The same where the buffer is free but its memory is not. */
GST_START_TEST (test_memory_not_writable)
{
  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], backend_name (__i__),
        NULL);
    Picture *in = picture_new ("format=RGBA,width=9,height=12", e), *after;
    GstBuffer *buffer = picture_to_buffer (in);
    GstBuffer *copy = gst_buffer_copy (buffer); /* shares the memory */

    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    assert_filter_result (h->element, in, filter_harness_run (h, copy),
        FALSE);
    after = picture_from_buffer (buffer, in->caps);
    assert_pictures_equal (in, after, 0, "the shared memory after its use");
    picture_free (after);
    picture_free (in);
    gst_buffer_unref (buffer);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* A pointwise operation in system memory works in the buffer that it gets. */
GST_START_TEST (test_in_place)
{
  static const gchar *const in_place[] = { "cudainvert", "cudathreshold" };

  for (guint e = 0; e < G_N_ELEMENTS (in_place); e++) {
    GstHarness *h = filter_harness_new (in_place[e], "cpu", NULL);
    Picture *in = picture_new ("format=RGB,width=22,height=12", e);
    GstBuffer *buffer = picture_to_buffer (in), *out;

    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    out = filter_harness_run (h, buffer);
    fail_unless (out == buffer, "%s copies a writable buffer", in_place[e]);
    assert_filter_result (h->element, in, out, FALSE);
    picture_free (in);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* A kernel of one pixel is the only thing that changes nothing. */
GST_START_TEST (test_passthrough)
{
  GstHarness *h = filter_harness_new ("cudagaussian", backend_name (__i__),
      "kernel-width=1");
  Picture *in = picture_new ("format=NV12,width=20,height=10", 1);
  GstBuffer *buffer = picture_to_buffer (in), *out;

  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  out = filter_harness_run (h, gst_buffer_ref (buffer));
  fail_unless (out == buffer, "kernel-width=1 copies");
  gst_buffer_unref (out);
  filter_set (h->element, "kernel-height=3");
  out = filter_harness_run (h, gst_buffer_ref (buffer));
  fail_unless (out != buffer, "kernel-height=3 is taken as passthrough");
  assert_filter_result (h->element, in, out, FALSE);
  filter_set (h->element, "kernel-height=1");
  out = filter_harness_run (h, gst_buffer_ref (buffer));
  fail_unless (out == buffer, "back at 1x1 it copies");
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* layouts */

/* A buffer with the rows of `picture` at a stride that is `extra` bytes longer
 * than need be, and with bytes before and between the planes. */
static GstBuffer *
padded_buffer (const Picture * picture, gint extra)
{
  const GstVideoInfo *info = &picture->info;
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, size = 128;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  gint c[GST_VIDEO_MAX_COMPONENTS];
  GstBuffer *buffer;
  GstVideoFrame frame;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    gst_video_format_info_component (info->finfo, p, c);
    offset[p] = size;
    stride[p] = GST_VIDEO_INFO_COMP_WIDTH (info, c[0])
        * GST_VIDEO_INFO_COMP_PSTRIDE (info, c[0]) + extra;
    size += (gsize) stride[p] * GST_VIDEO_INFO_COMP_HEIGHT (info, c[0]) + 62;
  }
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (buffer, 0, GUARD, size);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_INFO_FORMAT (info), GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info), offset,
      stride);
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS (info); i++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, i); y++)
      memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame,
              GST_VIDEO_INFO_COMP_PLANE (info, i))
          + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, i),
          picture->data + GST_VIDEO_INFO_PLANE_OFFSET (info,
              GST_VIDEO_INFO_COMP_PLANE (info, i))
          + y * GST_VIDEO_INFO_COMP_STRIDE (info, i),
          GST_VIDEO_FRAME_COMP_STRIDE (&frame, i) - extra);
  gst_video_frame_unmap (&frame);
  return buffer;
}

/* The bytes between the pixels of a buffer of padded_buffer (). */
static void
assert_guards_intact (GstBuffer * buffer, const Picture * picture, gint extra)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  gint c[GST_VIDEO_MAX_COMPONENTS];
  GstMapInfo map;
  guint8 *pixels;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  pixels = g_malloc0 (map.size);
  for (guint p = 0; p < meta->n_planes; p++) {
    gst_video_format_info_component (picture->info.finfo, p, c);
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (&picture->info, c[0]);
        y++)
      memset (pixels + meta->offset[p] + y * meta->stride[p], 1,
          meta->stride[p] - extra);
  }
  for (gsize i = 0; i < map.size; i++)
    fail_unless (pixels[i] || map.data[i] == GUARD,
        "byte %" G_GSIZE_FORMAT " beside the picture was written", i);
  g_free (pixels);
  gst_buffer_unmap (buffer, &map);
}

GST_START_TEST (test_video_meta)
{
  static const gchar *const pictures[] = { "format=GRAY8,width=19,height=11",
    "format=RGB,width=7,height=9", "format=I420,width=21,height=15",
    "format=NV12,width=18,height=10", "format=P010_10LE,width=6,height=6",
    "format=RGBP,width=33,height=3"
  };

  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], backend_name (__i__),
        NULL);

    for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
      Picture *in = picture_new (pictures[i], i);
      gint extra = 2 + 22 * (i % 3);
      GstBuffer *buffer = padded_buffer (in, extra);

      gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
      assert_filter_result (h->element, in, filter_harness_run (h,
              gst_buffer_ref (buffer)), FALSE);
      assert_guards_intact (buffer, in, extra);
      gst_buffer_unref (buffer);
      picture_free (in);
    }
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* In place, in such a buffer. */
GST_START_TEST (test_video_meta_in_place)
{
  GstHarness *h = filter_harness_new ("cudainvert", backend_name (__i__),
      NULL);
  Picture *in = picture_new ("format=I420,width=21,height=15", 2);
  GstBuffer *buffer = padded_buffer (in, 10), *out;

  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  out = filter_harness_run (h, buffer);
  if (out == buffer)
    assert_guards_intact (out, in, 10);
  else
    fail_if (g_str_equal (backend_name (__i__), "cpu"), "it copies");
  assert_filter_result (h->element, in, out, FALSE);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* A frame that is larger than its caps, with the picture in a rectangle of
 * it. */
GST_START_TEST (test_crop)
{
  static const gchar *const formats[] = { "GRAY8", "RGBA", "I420", "NV12" };
  const gint x0 = 6, y0 = 4, w = 16, h0 = 12;

  for (guint i = 0; i < G_N_ELEMENTS (formats) * 5; i++) {
    GstHarness *h = filter_harness_new (filter_names[i % 5],
        backend_name (__i__), NULL);
    gchar *large = g_strdup_printf ("format=%s,width=40,height=30",
        formats[i / 5]);
    gchar *small = g_strdup_printf ("format=%s,width=%d,height=%d",
        formats[i / 5], w, h0);
    Picture *whole = picture_new (large, i), *in = picture_new (small, i);
    GstBuffer *buffer = padded_buffer (whole, 6), *out;
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);
    const GstVideoInfo *info = &in->info;

    crop->x = x0;
    crop->y = y0;
    crop->width = w;
    crop->height = h0;
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
      for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++)
        for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c); x++)
          picture_set (in, c, x, y, picture_get (whole, c,
                  x + (x0 * GST_VIDEO_INFO_COMP_WIDTH (info, c) / w),
                  y + (y0 * GST_VIDEO_INFO_COMP_HEIGHT (info, c) / h0)));
    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    out = filter_harness_run (h, buffer);
    fail_if (gst_buffer_get_video_crop_meta (out),
        "the result is cropped once more");
    assert_filter_result (h->element, in, out, FALSE);
    picture_free (whole);
    picture_free (in);
    g_free (large);
    g_free (small);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* A rectangle in a frame of the size of its caps is for those downstream. */
GST_START_TEST (test_crop_kept)
{
  GstHarness *h = filter_harness_new ("cudasobel", backend_name (__i__), NULL);
  Picture *in = picture_new ("format=GRAY8,width=20,height=10", 2);
  GstBuffer *buffer = picture_to_buffer (in), *out;
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  crop->x = 2;
  crop->y = 3;
  crop->width = 8;
  crop->height = 7;
  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  out = filter_harness_run (h, buffer);
  crop = gst_buffer_get_video_crop_meta (out);
  fail_unless (crop != NULL, "the crop meta is lost");
  fail_unless_equals_int (crop->x, 2);
  fail_unless_equals_int (crop->y, 3);
  fail_unless_equals_int (crop->width, 8);
  fail_unless_equals_int (crop->height, 7);
  assert_filter_result (h->element, in, out, FALSE);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* times and metas */

static GstBuffer *
buffer_with_metas (const Picture * picture, GstCaps * reference)
{
  GstBuffer *buffer = picture_to_buffer (picture);
  GstCustomMeta *custom;

  GST_BUFFER_PTS (buffer) = 7 * GST_SECOND;
  GST_BUFFER_DTS (buffer) = 6 * GST_SECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  GST_BUFFER_OFFSET (buffer) = 175;
  GST_BUFFER_OFFSET_END (buffer) = 176;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER
      | GST_BUFFER_FLAG_CORRUPTED | GST_BUFFER_FLAG_DISCONT
      | GST_VIDEO_BUFFER_FLAG_TFF);
  gst_buffer_add_reference_timestamp_meta (buffer, reference, 99, 5);
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4);
  custom = gst_buffer_add_custom_meta (buffer, "TestMeta");
  gst_structure_set (gst_custom_meta_get_structure (custom), "n", G_TYPE_INT,
      42, NULL);
  return buffer;
}

static void
check_metas (GstBuffer * out, GstCaps * reference)
{
  GstReferenceTimestampMeta *time;
  GstVideoRegionOfInterestMeta *region;
  GstCustomMeta *custom;
  gint n = 0;

  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 7 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (out), 6 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), 40 * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (out), 175);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (out), 176);
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_MARKER));
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_CORRUPTED));
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_VIDEO_BUFFER_FLAG_TFF));
  fail_if (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DROPPABLE));
  time = gst_buffer_get_reference_timestamp_meta (out, reference);
  fail_unless (time && time->timestamp == 99 && time->duration == 5,
      "the reference timestamp is lost");
  region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (out,
      GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  fail_unless (region && region->x == 1 && region->y == 2 && region->w == 3
      && region->h == 4, "the region of interest is lost");
  custom = gst_buffer_get_custom_meta (out, "TestMeta");
  fail_unless (custom && gst_structure_get_int (gst_custom_meta_get_structure
          (custom), "n", &n) && n == 42, "the custom meta is lost");
}

/* In place and into another buffer. */
GST_START_TEST (test_times_and_metas)
{
  static const gchar *tags[] = { NULL };
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-test");

  if (!gst_meta_get_info ("TestMeta"))
    gst_meta_register_custom ("TestMeta", tags, NULL, NULL, NULL);
  for (guint i = 0; i < 10; i++) {
    GstHarness *h = filter_harness_new (filter_names[i / 2],
        backend_name (__i__), NULL);
    Picture *in = picture_new ("format=RGB,width=16,height=12", i);
    GstBuffer *buffer = buffer_with_metas (in, reference), *out;
    GstBuffer *held = i % 2 ? gst_buffer_ref (buffer) : NULL;

    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    out = filter_harness_run (h, buffer);
    check_metas (out, reference);
    assert_filter_result (h->element, in, out, FALSE);
    gst_clear_buffer (&held);
    picture_free (in);
    filter_harness_free (h);
  }
  gst_caps_unref (reference);
}

GST_END_TEST;

/* fields */

/* Each field is filtered as if the other were not there. */
GST_START_TEST (test_interlaced)
{
  static const gchar *const pictures[] = { "format=GRAY8,width=20,height=16",
    "format=GRAY8,width=9,height=13", "format=NV12,width=16,height=12",
    "format=I420,width=12,height=16", "format=RGB,width=5,height=1"
  };

  for (guint e = 0; filter_names[e]; e++)
    for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
      GstHarness *h = filter_harness_new (filter_names[e],
          backend_name (__i__), NULL);
      gchar *fields = g_strconcat (pictures[i],
          ",interlace-mode=interleaved,field-order=top-field-first", NULL);
      Picture *in = picture_new (fields, i);

      assert_filtered (h, in);
      assert_filtered (h, in);
      picture_free (in);
      g_free (fields);
      filter_harness_free (h);
    }
}

GST_END_TEST;

/* Six lines of 4:2:0 have three rows of chroma, but their fields of three lines
 * two rows each. */
GST_START_TEST (test_field_rows)
{
  GstHarness *h = filter_harness_new ("cudainvert", backend_name (__i__), NULL);
  GstBuffer *buffer;
  GstMapInfo map;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=I420,width=8,height=6,"
      "framerate=30/1,interlace-mode=interleaved");
  buffer = gst_buffer_new_allocate (NULL, 8 * 6 + 2 * 4 * 4, NULL);
  gst_buffer_memset (buffer, 0, 64, gst_buffer_get_size (buffer));
  buffer = filter_harness_run (h, buffer);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (gsize i = 8 * 6; i < 8 * 6 + 2 * 4 * 4; i++)
    fail_unless_equals_int (map.data[i], 256 - 64);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  filter_harness_free (h);
}

GST_END_TEST;

/* In a mixed stream the flag of the buffer decides. */
GST_START_TEST (test_mixed)
{
  static const gchar *const names[] = { "cudasobel", "cudagaussian" };

  for (guint e = 0; e < G_N_ELEMENTS (names); e++) {
    GstHarness *h = filter_harness_new (names[e], backend_name (__i__), NULL);
    Picture *in = picture_new ("format=NV12,width=16,height=16,"
        "interlace-mode=mixed", e);

    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    for (guint n = 0; n < 4; n++) {
      GstBuffer *buffer = picture_to_buffer (in);

      if (n % 2)
        GST_BUFFER_FLAG_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
      assert_filter_result (h->element, in, filter_harness_run (h, buffer),
          n % 2);
    }
    picture_free (in);
    filter_harness_free (h);
  }
}

GST_END_TEST;

static Suite *
buffers_suite (void)
{
  Suite *suite = suite_create ("buffers");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_backend_test (tcase, test_odd_sizes);
  tcase_add_backend_test (tcase, test_not_writable);
  tcase_add_backend_test (tcase, test_memory_not_writable);
  tcase_add_test (tcase, test_in_place);
  tcase_add_backend_test (tcase, test_passthrough);
  tcase_add_backend_test (tcase, test_video_meta);
  tcase_add_backend_test (tcase, test_video_meta_in_place);
  tcase_add_backend_test (tcase, test_crop);
  tcase_add_backend_test (tcase, test_crop_kept);
  tcase_add_backend_test (tcase, test_times_and_metas);
  tcase_add_backend_test (tcase, test_interlaced);
  tcase_add_backend_test (tcase, test_field_rows);
  tcase_add_backend_test (tcase, test_mixed);
  return suite;
}

TEST_MAIN (buffers)
