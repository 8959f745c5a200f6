/* What each element must make of a picture, computed with plain loops from the
 * contract of the elements and without any of the code under test. Settings
 * are read from the element's properties. */
#ifndef TEST_NAIVE_H
#define TEST_NAIVE_H

#include <gst/gst.h>

#include "picture.h"

/* The result of `element` on a whole frame. */
Picture *naive_filter_frame (GstElement * element, const Picture * in);

/* The result on the two fields of an interlaced frame, each by itself. */
Picture *naive_filter_fields (GstElement * element, const Picture * in);

/* How far a right result may be from it, in units of the depth. */
gint naive_tolerance (GstElement * element, const Picture * in);

/* The value of an enum property, as text; static. */
const gchar *naive_nick (GstElement * element, const gchar * property);

#endif
