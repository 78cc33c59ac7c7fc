import { once } from 'node:events'

const INSPECTOR_MS = 60_000

/** A connection to workerd's inspector. */
export class Inspector {
  readonly #socket: WebSocket
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>()
  #last = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result, error } = JSON.parse(String(data)) as { id?: number; result?: unknown; error?: unknown }
      const call = this.#calls.get(id ?? 0)
      if (error === undefined) call?.resolve(result)
      else call?.reject(new Error(`The inspector returned an error: ${JSON.stringify(error)}`))
    })
    socket.addEventListener('close', () => {
      for (const call of this.#calls.values()) call.reject(new Error('The inspector closed the connection.'))
    })
  }

  /** Connects to the only isolate of workerd. */
  static async open(port: number): Promise<Inspector> {
    const response = await fetch(`http://127.0.0.1:${port}/json`)
    const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[]
    const socket = new WebSocket(target!.webSocketDebuggerUrl)
    await once(socket, 'open', { signal: AbortSignal.timeout(INSPECTOR_MS) })
    return new Inspector(socket)
  }

  /** Calls a method of the Chrome DevTools protocol. */
  async call(method: string, params: object = {}): Promise<unknown> {
    const call = Promise.withResolvers<unknown>()
    const timer = setTimeout(() => call.reject(new Error(`The inspector did not respond to ${method}.`)), INSPECTOR_MS)
    this.#calls.set(++this.#last, call)
    this.#socket.send(JSON.stringify({ id: this.#last, method, params }))
    return call.promise.finally(() => clearTimeout(timer))
  }

  close(): void {
    this.#socket.close()
  }
}
