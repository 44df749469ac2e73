import type { ApiLogin } from '../../config.ts'
import { StartError } from '../../platform/startError.ts'
import type { Document } from '../client/document.ts'
import { createClient } from '../client/index.ts'

/** `npx footfall-server mcp`: serves MCP on standard input and output until the input ends. */
export async function serveMcp({ url, key, secret }: ApiLogin): Promise<void> {
  const { createMcpServer, serveStdio } = await loadSdk()
  const client = createClient({ baseUrl: url, key, secret })
  const document = await readDocument(url)
  const server = serveStdio(() => createMcpServer(client, document))
  await new Promise<void>((resolve) => process.stdin.once('close', resolve))
  await server.close()
}

/** The package is optional: a service runs without it. */
async function loadSdk() {
  try {
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
    return { ...(await import('./mcpServer.ts')), serveStdio }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new StartError(
      'The package @modelcontextprotocol/server is not installed. Run npm install without --omit=optional.',
    )
  }
}

async function readDocument(url: string): Promise<Document> {
  const address = new URL('/openapi.json', url)
  try {
    const answer = await fetch(address)
    if (answer.ok) return (await answer.json()) as Document
    throw new StartError(`${address} answered ${answer.status}. Set FOOTFALL_URL to the service.`)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`${address} cannot be reached. Set FOOTFALL_URL to the service.`)
  }
}
