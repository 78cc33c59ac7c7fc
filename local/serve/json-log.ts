/** Writes a line of this process: JSON, as the Worker's lines are. */
export function log(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown> = {}): void {
  console.log(JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }))
}

/** Writes a line of the Worker, or of workerd, whose lines are not JSON. */
export function logWorker(level: string, message: string, timestamp: number): void {
  const begin = `{"time":"${new Date(timestamp).toISOString()}","level":"${level === 'log' ? 'info' : level}",`
  const isJson = message.startsWith('{"event":') && message.endsWith('}')
  console.log(begin + (isJson ? message.slice(1) : `"event":"worker_output","message":${JSON.stringify(message)}}`))
}
