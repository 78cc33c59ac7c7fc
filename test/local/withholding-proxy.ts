import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Finally } from './npm-script.ts'

/** The requests whose answers are counted, and what happens when the last one is withheld. */
interface Plan {
  path: string
  left: number
  arrived: () => void
}

/**
 * A proxy in front of a Worker that withholds one answer. Until then its client goes on as usual, and from then on it is certainly
 * in the middle of its work, however fast or slow the machine is.
 */
export class WithholdingProxy {
  readonly url: string
  #plan: Plan | null = null

  private constructor(server: Server, target: string) {
    server.on('request', (incoming, outgoing) => {
      const plan = this.#planFor(incoming.url!)
      const { connection: _, ...headers } = incoming.headers
      const onward = request(new URL(incoming.url!, target), { method: incoming.method, headers, agent: false })
      onward.once('response', (answer) => {
        if (plan !== null) return void answer.resume()
        const { connection: _, ...headers } = answer.headers
        outgoing.writeHead(answer.statusCode!, headers)
        answer.pipe(outgoing)
      })
      onward.once('error', () => outgoing.destroy())
      // As without a proxy, a client that ends cancels its request.
      outgoing.once('close', () => onward.destroy())
      incoming.pipe(onward)
      if (plan !== null) incoming.once('end', plan.arrived)
    })
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(target: string, atEnd: Finally): Promise<WithholdingProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    atEnd(async () => {
      server.closeAllConnections()
      server.close()
    })
    return new WithholdingProxy(server, target)
  }

  /**
   * Withholds one answer. Resolves when the Worker has been sent its request.
   *
   * @param path the beginning of the paths of the requests that count
   * @param nth which of them, from now on, gets no answer; 1 is the first
   */
  withhold(path: string, nth: number): Promise<void> {
    return new Promise((arrived) => {
      this.#plan = { path, left: nth, arrived }
    })
  }

  /** The plan, if the answer to this request is the one to withhold. */
  #planFor(path: string): Plan | null {
    const plan = this.#plan
    if (plan === null || !path.startsWith(plan.path) || --plan.left > 0) return null
    this.#plan = null
    return plan
  }
}
