import { type CallToolResult, type Tool as McpTool, Server } from '@modelcontextprotocol/server'
import { packageVersion } from '../../platform/paths.ts'
import { ApiError } from '../client/apiError.ts'
import type { Client } from '../client/client.d.ts'
import type { Document } from '../client/document.ts'
import { type Tool, toolsOf } from './tools.ts'

type Given = Readonly<Record<string, unknown>>

const instructions = `Reads events, figures, audiences and settings of Footfall. Start with whoAmI, which lists the projects.
Free tools cost nothing. Charged tools cost money for each record and need max_records. Ask the user before you choose
a number, and prefer counts, figures, previews and dry_run. Answers of charged tools say in meta.charged what they cost.`

/** Creates an MCP server whose tools call operations of the API through the client. */
export function createMcpServer(client: Client, document: Document): Server {
  const tools = new Map(toolsOf(document).map((tool) => [tool.name as string, tool]))
  const server = new Server(
    { name: 'footfall', version: packageVersion },
    { capabilities: { tools: {} }, instructions },
  )
  server.setRequestHandler('tools/list', async () => ({
    tools: [...tools.values()].map(({ name, title, description, inputSchema, annotations }) => ({
      name,
      title,
      description,
      inputSchema: inputSchema as unknown as McpTool['inputSchema'],
      annotations,
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.get(params.name)
    if (!tool) return failure(`There is no tool ${params.name}. tools/list names all tools.`)
    const toolArguments = params.arguments ?? {}
    const unknown = Object.keys(toolArguments).find(
      (name) => !Object.hasOwn(parametersOf(tool), name),
    )
    if (unknown !== undefined) return failure(noParameter(tool, unknown))
    const request = withinBudget(tool, toolArguments)
    if (typeof request === 'string') return failure(request)
    try {
      return success((await client[tool.name](request as never, { signal })) as unknown)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { code, message, status, details } = error
      return failure(JSON.stringify({ ...details, error: code, status, message }))
    }
  })
  return server
}

const parametersOf = ({ inputSchema }: Tool) => inputSchema.properties

function noParameter(tool: Tool, name: string): string {
  const allowed = Object.keys(parametersOf(tool)).join(', ') || 'none'
  const hint = name === tool.bound ? ` max_records replaces ${name}.` : ''
  return `${tool.name} has no parameter ${JSON.stringify(name.slice(0, 100))}. Allowed: ${allowed}.${hint} Nothing was requested or charged.`
}

/** The parameters, limited to the records that may be charged, or why no request is sent. */
function withinBudget(tool: Tool, given: Given): Given | string {
  const { max_records, ...params } = given
  if (tool.bound === null) return given
  if (tool.hasDryRun && params.dry_run === true) return params
  if (!(Number.isInteger(max_records) && (max_records as number) >= 1))
    return `${tool.name} is charged for each record, so max_records must be an integer of at least 1 (got ${JSON.stringify(max_records) ?? 'nothing'}). Nothing was requested or charged.`
  const budget = max_records as number
  if (tool.bound === 'one') return params
  if (tool.bound !== 'items') return { ...params, [tool.bound]: Math.min(budget, tool.recordsMax) }
  const count = Array.isArray(params.items) ? params.items.length : 0
  return count <= budget
    ? params
    : `items must have at most max_records entries (got ${count}, max_records is ${budget}). Nothing was requested or charged.`
}

const success = (answer: unknown): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(answer) }],
  structuredContent: answer as Record<string, unknown>,
})

const failure = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
})
