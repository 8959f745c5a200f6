/* Pictures in system memory, as the tests make, read and compare them. They
 * know formats by GStreamer's tables only, not by those of this project. */
#ifndef TEST_PICTURE_H
#define TEST_PICTURE_H

#include <gst/video/video.h>

typedef struct {
  GstCaps *caps;
  GstVideoInfo info;
  GstBuffer *buffer; /* in the default layout of `info` */
  guint8 *data;
  GstMapInfo map;
} Picture;

/* A picture of the caps "video/x-raw,framerate=25/1," `fields`, filled with
 * random components, padding channels included. */
Picture *picture_new (const gchar * fields, guint32 seed);

/* One of the same caps, all bytes zero. */
Picture *picture_new_like (const Picture * other);

Picture *picture_copy (const Picture * other);
void picture_free (Picture * picture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Picture, picture_free)

/* Component `c` as GStreamer numbers them (R G B A, Y U V), in units of its
 * depth. */
gint picture_get (const Picture * picture, gint c, gint x, gint y);
void picture_set (Picture * picture, gint c, gint x, gint y, gint value);
void picture_fill (Picture * picture, gint c, gint value);

/* A ramp from black at the left to white at the right, in every component. */
void picture_fill_ramp (Picture * picture);

/* A copy of the bytes, in a buffer of its own. */
GstBuffer *picture_to_buffer (const Picture * picture);

/* The picture of a buffer of any memory and layout. */
Picture *picture_from_buffer (GstBuffer * buffer, GstCaps * caps);

/* Fails, with position and both values, unless every component of both is the
 * same within `tolerance`, and padding channels are equal. */
void assert_pictures_equal (const Picture * expected, const Picture * actual,
    gint tolerance, const gchar * what);

/* The share of the components that differ. */
gdouble picture_difference (const Picture * a, const Picture * b);

#endif
