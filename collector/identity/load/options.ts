import { parseArgs } from 'node:util'
import { isUuid } from '../../../schemas/uuid.ts'
import { StartError } from '../../platform/startError.ts'
import type { LoadRequest } from './load.ts'
import { readMapping } from './mapping.ts'
import { type Format, formats, openFile, openStdin } from './source.ts'
import type { Targets } from './targets.ts'

const everybody = '00000000-0000-0000-0000-000000000000'

/** Reads the arguments of a load command. Throws StartError that names the fault. */
export async function readLoadRequest(
  args: readonly string[],
  targets: Targets,
  usual: string,
): Promise<LoadRequest> {
  const { values, positionals } = parse(args)
  const { into = usual } = values
  const target = targets[into]
  if (!target) throw new StartError(`--into must be one of ${Object.keys(targets).join(', ')}`)
  const format = (values.format ?? null) as Format | null
  if (format !== null && !formats.includes(format)) {
    throw new StartError(`--format must be one of ${formats.join(', ')}`)
  }
  const { organization } = values
  if (organization !== undefined && !isUuid(organization))
    throw new StartError('--organization must be a UUID')
  if (organization !== undefined && !target.isScoped) {
    throw new StartError(
      `--organization requires --into links, because every organization uses ${into}`,
    )
  }
  const [first] = positionals
  if (first === undefined) throw new StartError('FILE is required. Use - for standard input')
  return {
    target,
    sources: await Promise.all(
      positionals.map((path) =>
        path === '-' ? openStdin(process.stdin, format) : openFile(path, format),
      ),
    ),
    mapping: readMapping(values.map ?? '', target.fields),
    ignoreUnknown: values['ignore-unknown'],
    organization: organization ?? everybody,
    replace: values.replace,
    rejectedPath: values.rejected ?? `${first === '-' ? 'stdin' : first}.rejected.ndjson`,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        into: { type: 'string' },
        format: { type: 'string' },
        map: { type: 'string' },
        'ignore-unknown': { type: 'boolean', default: false },
        organization: { type: 'string' },
        replace: { type: 'boolean', default: false },
        rejected: { type: 'string' },
      },
    })
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}
