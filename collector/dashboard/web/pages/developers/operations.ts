/** A read operation of the API, according to the OpenAPI document. */
export interface Operation {
  id: string
  tag: string
  summary: string
  description: string
  path: string
  /** Whether its records are charged. */
  isCharged: boolean
  parameters: Parameter[]
}

interface Parameter {
  name: string
  isRequired: boolean
  description: string
  /** All allowed values, if their list is fixed. */
  choices: string[] | null
}

/** The parts of /openapi.json that this page reads. */
interface Document {
  paths: Record<
    string,
    {
      get?: {
        operationId: string
        summary: string
        description?: string
        tags: string[]
        parameters?: {
          name: string
          in: string
          required?: boolean
          description?: string
          schema: { enum?: unknown[] }
        }[]
      }
    }
  >
}

/** Reads the service's read operations by tag. */
export async function readOperations(): Promise<Operation[]> {
  const { paths } = (await (await fetch('/openapi.json')).json()) as Document
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, { get }]) => {
      if (!get) return []
      const { operationId: id, summary, description = '', tags, parameters = [] } = get
      return {
        id,
        tag: tags[0]!,
        summary,
        description,
        path,
        isCharged: parameters.some(({ name }) => name === 'Idempotency-Key'),
        parameters: parameters
          .filter((parameter) => parameter.in !== 'header')
          .map(({ name, required = false, description = '', schema }) => ({
            name,
            isRequired: required,
            description,
            choices: schema.enum?.map(String) ?? null,
          })),
      }
    })
}
