import { Option } from 'commander'

/** `--url`: where the Worker answers. */
export const URL_OPTION = new Option('--url <url>', 'address of the Worker').default(
  process.env.WORKER_URL ?? `http://127.0.0.1:${process.env.PORT || 8787}`,
)

/** `--token`: the API token of the Worker. */
export const TOKEN_OPTION = new Option('--token <token>', 'the API token').default(
  process.env.API_TOKEN || 'local',
  'API_TOKEN from the environment, else "local"',
)
