/* stream.h on the CUDA runtime: recording is stream capture. */
#include "stream.h"

#include "check.h"
#include "device.h"

extern "C" ImgStream
stream_new (ImgError *error)
{
  cudaStream_t stream = NULL;

  if (!img_cuda_probe (error)
      || !img_cuda_check (
          cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking),
          "creating a stream", error))
    return NULL;
  return stream;
}

extern "C" void
stream_free (ImgStream stream)
{
  cudaStreamDestroy (stream);
}

extern "C" bool
stream_record (ImgStream stream, ImgError *error)
{
  return img_cuda_check (
      cudaStreamBeginCapture (stream, cudaStreamCaptureModeThreadLocal),
      "beginning to record", error);
}

extern "C" bool
stream_play (ImgStream stream, ImgError *error)
{
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  bool ok;

  ok = img_cuda_check (cudaStreamEndCapture (stream, &graph),
           "ending to record", error)
      && img_cuda_check (cudaGraphInstantiateWithFlags (&exec, graph, 0),
          "preparing the recorded work", error)
      && img_cuda_check (cudaGraphLaunch (exec, stream),
          "queueing the recorded work", error)
      && img_cuda_synchronize (stream, error);
  if (exec)
    cudaGraphExecDestroy (exec);
  if (graph)
    cudaGraphDestroy (graph);
  return ok;
}
