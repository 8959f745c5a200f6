/* What gst-inspect-1.0 shows of the elements: factories, pad templates and
 * properties are those of the contract, no more and no fewer. */
#include "helper.h"

#define BORDERS "reflect-101 replicate reflect wrap constant"
#define CHANNELS "each luma"

/* An enum: its nicks in order. Numbers: minimum and maximum. */
typedef struct {
  const gchar *name;
  const gchar *def; /* as text; NULL: not looked at */
  const gchar *nicks;
  GType type;
  gdouble min, max;
} Expected;

#define ENUM(name, nicks, def) { name, def, nicks, G_TYPE_ENUM, 0, 0 }
#define INT(name, min, max, def) { name, def, NULL, G_TYPE_INT, min, max }
#define DOUBLE(name, min, max, def) { name, def, NULL, G_TYPE_DOUBLE, min, max }
#define BOOLEAN(name, def) { name, def, NULL, G_TYPE_BOOLEAN, 0, 1 }

static const Expected base_properties[] = {
  ENUM ("backend", "auto cuda cpu", "auto"),
  INT ("cuda-device-id", -1, G_MAXINT, "-1"),
  {NULL}
};

static const Expected invert_properties[] = {
  BOOLEAN ("invert-alpha", "false"),
  {NULL}
};

static const Expected threshold_properties[] = {
  DOUBLE ("threshold", 0, 255, "127"),
  DOUBLE ("max-value", 0, 255, "255"),
  ENUM ("type", "binary binary-inv trunc tozero tozero-inv", "binary"),
  ENUM ("method", "fixed otsu triangle adaptive-mean adaptive-gaussian",
      "fixed"),
  INT ("block-size", 3, 255, "11"),
  DOUBLE ("offset", -255, 255, "2"),
  ENUM ("channels", CHANNELS, "each"),
  DOUBLE ("computed-threshold", -1, 255, NULL),
  {NULL}
};

static const Expected sobel_properties[] = {
  ENUM ("direction", "magnitude x y", "magnitude"),
  ENUM ("operator", "sobel scharr", "sobel"),
  INT ("kernel-size", 3, 7, "3"),
  ENUM ("norm", "l2 l1", "l2"),
  ENUM ("output", "abs clip offset", "abs"),
  DOUBLE ("scale", -1000, 1000, "1"),
  DOUBLE ("delta", -1000, 1000, "0"),
  ENUM ("border", BORDERS, "reflect-101"),
  ENUM ("channels", CHANNELS, "each"),
  {NULL}
};

static const Expected gaussian_properties[] = {
  INT ("kernel-width", 0, 255, "15"),
  INT ("kernel-height", 0, 255, "0"),
  DOUBLE ("sigma-x", 0, 100, "0"),
  DOUBLE ("sigma-y", 0, 100, "0"),
  ENUM ("border", BORDERS, "reflect-101"),
  {NULL}
};

static const Expected fftmag_properties[] = {
  ENUM ("scale", "log linear power decibel", "log"),
  BOOLEAN ("shift", "true"),
  ENUM ("normalize", "minmax range", "minmax"),
  DOUBLE ("range-min", -1e6, 1e12, "0"),
  DOUBLE ("range-max", -1e6, 1e12, "20"),
  ENUM ("window", "none hann hamming blackman", "none"),
  {NULL}
};

/* in the order of filter_names */
static const Expected *const properties[] = { invert_properties,
  threshold_properties, sobel_properties, gaussian_properties,
  fftmag_properties
};

static const gchar formats[] = "RGB BGR RGBA BGRA ARGB ABGR RGBx BGRx "
    "RGBP BGRP GBR GBRA I420 YV12 NV12 NV21 Y42B Y444 P010_10LE P016_LE "
    "I420_10LE Y444_16LE GRAY8 GRAY16_LE";

GST_START_TEST (test_factories)
{
  GstElementFactory *factory = gst_element_factory_find (filter_names[__i__]);
  GstPluginFeature *feature = GST_PLUGIN_FEATURE (factory);

  fail_unless (factory != NULL, "%s is not registered", filter_names[__i__]);
  fail_unless_equals_string (gst_plugin_feature_get_plugin_name (feature),
      "cudafilters");
  fail_unless_equals_int (gst_plugin_feature_get_rank (feature),
      GST_RANK_NONE);
  fail_unless_equals_string (gst_element_factory_get_metadata (factory,
          GST_ELEMENT_METADATA_KLASS), "Filter/Effect/Video/Hardware");
  fail_unless (strlen (gst_element_factory_get_metadata (factory,
              GST_ELEMENT_METADATA_LONGNAME)) > 0);
  fail_unless (strlen (gst_element_factory_get_metadata (factory,
              GST_ELEMENT_METADATA_DESCRIPTION)) > 0);
  fail_unless_equals_int (gst_element_factory_get_num_pad_templates (factory),
      2);
  gst_object_unref (factory);
}

GST_END_TEST;

GST_START_TEST (test_plugin)
{
  GstPlugin *plugin = gst_registry_find_plugin (gst_registry_get (),
      "cudafilters");
  GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get
      (), "cudafilters");

  fail_unless (plugin != NULL);
  for (GList * l = features; l; l = l->next)
    fail_unless (GST_IS_ELEMENT_FACTORY (l->data)
        && gst_element_factory_list_is_type (l->data,
            GST_ELEMENT_FACTORY_TYPE_HARDWARE), "%s is no hardware element",
        GST_OBJECT_NAME (l->data));
  fail_unless_equals_string (gst_plugin_get_license (plugin), "LGPL");
#if GST_CHECK_VERSION (1, 24, 0)
  {
    gchar **infos = gst_plugin_get_status_infos (plugin);
    gchar **warnings = gst_plugin_get_status_warnings (plugin);

    fail_unless ((infos != NULL) != (warnings != NULL),
        "gst-inspect-1.0 does not say whether a GPU was found");
    fail_unless (gpu_missing () ? warnings != NULL : infos != NULL);
    g_strfreev (infos);
    g_strfreev (warnings);
  }
#endif
  gst_plugin_feature_list_free (features);
  gst_object_unref (plugin);
}

GST_END_TEST;

GST_START_TEST (test_base_class)
{
  GstElement *element = filter_new (filter_names[__i__], NULL, NULL);
  GType base = g_type_parent (G_OBJECT_TYPE (element));
  gboolean qos = FALSE;

  fail_unless_equals_string (g_type_name (base), "GstCudaFilter");
  fail_unless (G_TYPE_IS_ABSTRACT (base));
  fail_unless_equals_string (g_type_name (g_type_parent (base)),
      "GstBaseTransform");
  fail_unless (gst_type_is_plugin_api (base, NULL));
  g_object_get (element, "qos", &qos, NULL);
  fail_unless (qos, "QoS is off");
  gst_object_unref (element);
}

GST_END_TEST;

/* Whether all frames of these caps fit the template. */
static gboolean
template_takes (GstPadTemplate * template, const gchar * features,
    const gchar * format, const gchar * size)
{
  GstCaps *all = gst_pad_template_get_caps (template);
  gchar *text = g_strdup_printf ("video/x-raw%s,format=%s,%s,framerate=30/1",
      features, format, size);
  GstCaps *caps = gst_caps_from_string (text);
  gboolean result = gst_caps_is_subset (caps, all);

  gst_caps_unref (caps);
  gst_caps_unref (all);
  g_free (text);
  return result;
}

static void
check_template (GstPadTemplate * template)
{
  gchar **names = g_strsplit (formats, " ", -1);
  const gchar *device = "(" CUDA_MEMORY ")";

  for (gchar ** name = names; *name; name++) {
    fail_unless (template_takes (template, "", *name, "width=1,height=1"),
        "%s is missing in system memory", *name);
    fail_unless (template_takes (template, "", *name,
            "width=16384,height=16384"), "no large %s", *name);
    fail_unless (template_takes (template, device, *name, "width=1,height=1"),
        "%s is missing in CUDA memory", *name);
  }
  fail_unless (template_takes (template, "", "xRGB", "width=1,height=1"));
  fail_unless (template_takes (template, "", "xBGR", "width=1,height=1"));
  fail_if (template_takes (template, device, "xRGB", "width=1,height=1"));
  fail_if (template_takes (template, device, "xBGR", "width=1,height=1"));
  fail_if (template_takes (template, "", "YUY2", "width=1,height=1"));
  fail_if (template_takes (template, "", "GRAY16_BE", "width=1,height=1"));
  g_strfreev (names);
}

/* The number of formats of the structure with these features. */
static guint
count_formats (GstPadTemplate * template, const gchar * feature)
{
  GstCaps *caps = gst_pad_template_get_caps (template);
  guint n = 0;

  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (gst_caps_features_contains (gst_caps_get_features (caps, i), feature))
      n += gst_value_list_get_size (gst_structure_get_value
          (gst_caps_get_structure (caps, i), "format"));
  gst_caps_unref (caps);
  return n;
}

GST_START_TEST (test_pad_templates)
{
  GstElement *element = filter_new (filter_names[__i__], NULL, NULL);
  static const gchar *const pads[] = { "sink", "src" };

  for (guint i = 0; i < G_N_ELEMENTS (pads); i++) {
    GstPadTemplate *template =
        gst_element_get_pad_template (element, pads[i]);

    fail_unless (template != NULL);
    fail_unless_equals_int (GST_PAD_TEMPLATE_PRESENCE (template),
        GST_PAD_ALWAYS);
    check_template (template);
    fail_unless_equals_int (count_formats (template, CUDA_MEMORY), 24);
    fail_unless_equals_int (count_formats (template,
            GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY), 26);
  }
  gst_object_unref (element);
}

GST_END_TEST;

/* properties */

static void
check_enum (GParamSpec * pspec, const Expected * expected)
{
  GEnumClass *klass = G_PARAM_SPEC_ENUM (pspec)->enum_class;
  gchar **nicks = g_strsplit (expected->nicks, " ", -1);

  fail_unless_equals_int (klass->n_values, g_strv_length (nicks));
  for (guint i = 0; i < klass->n_values; i++) {
    fail_unless_equals_string (klass->values[i].value_nick, nicks[i]);
    fail_unless (strlen (klass->values[i].value_name) > 0);
  }
  fail_unless (gst_type_is_plugin_api (pspec->value_type, NULL),
      "the enum %s is not marked as plugin API",
      g_type_name (pspec->value_type));
  g_strfreev (nicks);
}

/* The range is the expected one; of scale, delta and such, which have no bounds
 * of their own, at least it. */
static void
check_range (GParamSpec * pspec, const Expected * expected)
{
  gboolean exact = ABS (expected->max) <= 255;
  gdouble min, max;

  if (expected->type == G_TYPE_INT) {
    fail_unless (G_IS_PARAM_SPEC_INT (pspec));
    min = G_PARAM_SPEC_INT (pspec)->minimum;
    max = G_PARAM_SPEC_INT (pspec)->maximum;
  } else {
    fail_unless (G_IS_PARAM_SPEC_DOUBLE (pspec));
    min = G_PARAM_SPEC_DOUBLE (pspec)->minimum;
    max = G_PARAM_SPEC_DOUBLE (pspec)->maximum;
  }
  fail_unless (exact ? min == expected->min : min <= expected->min,
      "%s begins at %g", pspec->name, min);
  fail_unless (exact ? max == expected->max : max >= expected->max,
      "%s ends at %g", pspec->name, max);
}

static void
check_default (GstElement * element, GParamSpec * pspec,
    const Expected * expected)
{
  GValue value = G_VALUE_INIT, wanted = G_VALUE_INIT;

  if (!expected->def)
    return;
  g_value_init (&wanted, pspec->value_type);
  fail_unless (gst_value_deserialize (&wanted, expected->def));
  fail_unless_equals_int (g_param_values_cmp (pspec,
          g_param_spec_get_default_value (pspec), &wanted), 0);
  g_object_get_property (G_OBJECT (element), pspec->name, &value);
  fail_unless (g_param_values_cmp (pspec, &value, &wanted) == 0,
      "a new element has another %s than %s", pspec->name, expected->def);
  g_value_unset (&value);
  g_value_unset (&wanted);
}

static void
check_property (GstElement * element, const Expected * expected,
    GParamFlags mutable)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element),
      expected->name);

  fail_unless (pspec != NULL, "no property %s", expected->name);
  fail_unless (g_type_is_a (pspec->value_type, expected->type),
      "%s is a %s", expected->name, g_type_name (pspec->value_type));
  fail_unless (strlen (g_param_spec_get_blurb (pspec)) > 0);
  fail_unless (pspec->flags & G_PARAM_READABLE);
  if (g_str_equal (expected->name, "computed-threshold"))
    fail_if (pspec->flags & G_PARAM_WRITABLE);
  else
    fail_unless_equals_int_hex (pspec->flags & (G_PARAM_WRITABLE
            | GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_READY
            | GST_PARAM_MUTABLE_PAUSED | GST_PARAM_MUTABLE_PLAYING),
        G_PARAM_WRITABLE | mutable);
  if (expected->type == G_TYPE_ENUM)
    check_enum (pspec, expected);
  else if (expected->type != G_TYPE_BOOLEAN)
    check_range (pspec, expected);
  check_default (element, pspec, expected);
}

/* The properties that `type` itself adds. */
static guint
count_properties (GType type)
{
  gpointer klass = g_type_class_ref (type);
  guint n = 0, own = 0;
  GParamSpec **specs = g_object_class_list_properties (klass, &n);

  for (guint i = 0; i < n; i++)
    own += specs[i]->owner_type == type;
  g_free (specs);
  g_type_class_unref (klass);
  return own;
}

GST_START_TEST (test_properties)
{
  GstElement *element = filter_new (filter_names[__i__], NULL, NULL);
  guint n = 0;

  for (const Expected * e = properties[__i__]; e->name; e++, n++)
    check_property (element, e,
        GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING);
  fail_unless_equals_int (count_properties (G_OBJECT_TYPE (element)), n);
  for (const Expected * e = base_properties; e->name; e++)
    check_property (element, e, GST_PARAM_MUTABLE_READY);
  fail_unless_equals_int (count_properties (g_type_parent (G_OBJECT_TYPE
              (element))), 2);
  gst_object_unref (element);
}

GST_END_TEST;

/* Every value that the range names is taken and comes back. */
static void
check_round_trip (GstElement * element, GParamSpec * pspec, GValue * value)
{
  GValue read = G_VALUE_INIT;

  g_object_set_property (G_OBJECT (element), pspec->name, value);
  g_object_get_property (G_OBJECT (element), pspec->name, &read);
  fail_unless (g_param_values_cmp (pspec, value, &read) == 0,
      "%s does not come back as it was set", pspec->name);
  g_value_unset (&read);
}

static void
check_round_trips (GstElement * element, const Expected * expected)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element),
      expected->name);
  GValue value = G_VALUE_INIT;

  if (!(pspec->flags & G_PARAM_WRITABLE))
    return;
  g_value_init (&value, pspec->value_type);
  if (expected->type == G_TYPE_ENUM) {
    GEnumClass *klass = G_PARAM_SPEC_ENUM (pspec)->enum_class;

    for (guint i = 0; i < klass->n_values; i++) {
      g_value_set_enum (&value, klass->values[i].value);
      check_round_trip (element, pspec, &value);
    }
  }
  for (gint i = 0; i <= 4 && expected->type != G_TYPE_ENUM; i++) {
    gdouble number = expected->min + (expected->max - expected->min) * i / 4;

    if (expected->type == G_TYPE_DOUBLE)
      g_value_set_double (&value, number);
    else if (expected->type == G_TYPE_INT)
      g_value_set_int (&value, (gint) number);
    else
      g_value_set_boolean (&value, i % 2);
    check_round_trip (element, pspec, &value);
  }
  g_value_unset (&value);
}

GST_START_TEST (test_read_back)
{
  GstElement *element = filter_new (filter_names[__i__], NULL, NULL);

  for (const Expected * e = base_properties; e->name; e++)
    check_round_trips (element, e);
  for (const Expected * e = properties[__i__]; e->name; e++)
    check_round_trips (element, e);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
registration_suite (void)
{
  Suite *suite = suite_create ("registration");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_plugin);
  tcase_add_loop_test (tcase, test_factories, 0, 5);
  tcase_add_loop_test (tcase, test_base_class, 0, 5);
  tcase_add_loop_test (tcase, test_pad_templates, 0, 5);
  tcase_add_loop_test (tcase, test_properties, 0, 5);
  tcase_add_loop_test (tcase, test_read_back, 0, 5);
  return suite;
}

TEST_MAIN (registration)
