/* stream.h in a build without CUDA. */
#include "stream.h"

#include "device.h"

ImgStream
stream_new (ImgError *error)
{
  img_cuda_probe (error);
  return NULL;
}

void
stream_free (ImgStream stream)
{
}

bool
stream_record (ImgStream stream, ImgError *error)
{
  return img_cuda_probe (error);
}

bool
stream_play (ImgStream stream, ImgError *error)
{
  return img_cuda_probe (error);
}
