import { Option, program } from 'commander'
import { WorkerClient, type WorkerClientOptions } from './worker-client.ts'

/** `--url`: where the Worker answers. */
export const URL_OPTION = new Option('--url <url>', 'address of the Worker').default(
  process.env.WORKER_URL ?? `http://127.0.0.1:${process.env.PORT || 8787}`,
)

/** `--token`: the API token of the Worker. */
export const TOKEN_OPTION = new Option('--token <token>', 'the API token').default(
  process.env.API_TOKEN || 'local',
  'API_TOKEN from the environment, else "local"',
)

/** The Worker of `--url` and `--token`. Ends the process if the URL is none. */
export function workerOf(
  { url, token }: { url: string; token: string },
  { signal }: AbortController,
  more: Pick<WorkerClientOptions, 'onRetry' | 'deadlineMs'> = {},
): WorkerClient {
  if (!URL.canParse(url)) program.error('--url must be a URL, such as https://YOUR-WORKER.')
  return new WorkerClient({ url, token, signal, ...more })
}
