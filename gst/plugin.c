/* The plugin: registers its elements, everywhere, and says what it found. */
#include <gst/gst.h>

#include "gstcudacvtcolor.h"
#include "gstcudafftmag.h"
#include "gstcudafilterdevice.h"
#include "gstcudagaussian.h"
#include "gstcudainvert.h"
#include "gstcudaresize.h"
#include "gstcudasobel.h"
#include "gstcudathreshold.h"

/* What gst-inspect-1.0 shows of the GPU. The registry keeps it, so it is asked
 * again when the driver's device file comes or goes. */
static void
plugin_add_status (GstPlugin * plugin)
{
  gchar *text, *status;
  gboolean found = gst_cuda_filter_device_look (-1, &text);

  status = found ? g_strdup_printf ("GPU found: %s", text)
      : g_strdup_printf ("The elements run on the CPU: %s", text);
  gst_plugin_add_dependency_simple (plugin, NULL, "/dev", "nvidiactl,dxg",
      GST_PLUGIN_DEPENDENCY_FLAG_NONE);
#if GST_CHECK_VERSION (1, 24, 0)
  if (found)
    gst_plugin_add_status_info (plugin, status);
  else
    gst_plugin_add_status_warning (plugin, status);
#else
  GST_INFO_OBJECT (plugin, "%s", status);
#endif
  g_free (status);
  g_free (text);
}

static gboolean
plugin_init (GstPlugin * plugin)
{
  gboolean ok = TRUE;

  plugin_add_status (plugin);
  ok &= GST_ELEMENT_REGISTER (cudacvtcolor, plugin);
  ok &= GST_ELEMENT_REGISTER (cudafftmag, plugin);
  ok &= GST_ELEMENT_REGISTER (cudagaussian, plugin);
  ok &= GST_ELEMENT_REGISTER (cudainvert, plugin);
  ok &= GST_ELEMENT_REGISTER (cudaresize, plugin);
  ok &= GST_ELEMENT_REGISTER (cudasobel, plugin);
  ok &= GST_ELEMENT_REGISTER (cudathreshold, plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudafilters,
    "Image processing on NVIDIA GPUs, with a CPU fallback", plugin_init,
    PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
