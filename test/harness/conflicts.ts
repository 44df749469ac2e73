import { join } from 'node:path'
import { type Node, type StringLiteral, SyntaxKind } from 'typescript/unstable/ast'
import { API, type Project, SymbolFlags, type Symbol as TypeSymbol } from 'typescript/unstable/sync'
import { errorCodes } from '../../collector/api/http/errorCodes.ts'
import { packageRoot } from '../../collector/platform/paths.ts'

const collector = join(packageRoot, 'collector/')
const routeMethods = ['get', 'post', 'put', 'patch', 'delete']

/** A route in the source: a pattern of its operationId, and the codes of the 409 answers that its code can throw. */
export interface ConflictsOfRoute {
  readonly operationId: RegExp
  readonly codes: readonly string[]
}

/**
 * Reads from the source which 409 answers each route can throw. It follows every function that the arguments
 * of `app.get(…)` and similar calls refer to, through all files of the collector. The real code may throw
 * fewer than it finds.
 */
export function readConflicts(): ConflictsOfRoute[] {
  const api = new API({ cwd: packageRoot })
  try {
    const tsconfig = join(packageRoot, 'tsconfig.json')
    const [project] = api.updateSnapshot({ openProject: tsconfig }).getProjects()
    return conflictsOf(project!)
  } finally {
    api.close()
  }
}

function conflictsOf(project: Project): ConflictsOfRoute[] {
  const { program } = project
  const references = referencesIn(project)
  return program
    .getSourceFileNames()
    .filter((name) => name.startsWith(collector))
    .flatMap((name) => routeCallsIn(program.getSourceFile(name)!))
    .flatMap((call) => {
      const reached = reachedFrom(call, references)
      const ids = reached.flatMap(operationIdsIn)
      const codes = [...new Set(reached.flatMap(codesThrownIn))].sort()
      return ids.map((operationId) => ({ operationId, codes }))
    })
}

/** Calls the visitor with a node and all nodes in it. */
function visit(node: Node, visitor: (node: Node) => void): void {
  visitor(node)
  node.forEachChild((child) => visit(child, visitor))
}

function collect<T>(node: Node, pick: (node: Node) => T | undefined): T[] {
  const picked: T[] = []
  visit(node, (one) => {
    const value = pick(one)
    if (value !== undefined) picked.push(value)
  })
  return picked
}

type Parts = Node & {
  readonly expression: Node & { readonly name?: { readonly text: string } }
  readonly arguments: readonly Node[]
  readonly name: Node & { readonly text?: string }
  readonly initializer: Node
  readonly text: string
}

/** `app.get(path, options, handler)` and its like. */
const routeCallsIn = (file: Node): Node[] =>
  collect(file, (node) => {
    if (node.kind !== SyntaxKind.CallExpression) return undefined
    const { expression, arguments: given } = node as Parts
    const isRoute = routeMethods.includes(expression.name?.text ?? '') && given.length === 3
    return isRoute && expression.getText().startsWith('app.') ? node : undefined
  })

/** The texts of `operationId: …`, as patterns: a template has parts that differ. */
const operationIdsIn = (node: Node): RegExp[] =>
  collect(node, (one) => {
    const isProperty = one.kind === SyntaxKind.PropertyAssignment
    return isProperty && (one as Parts).name.text === 'operationId'
      ? (one as Parts).initializer
      : undefined
  })
    .flatMap((value) =>
      collect(value, (one) => (textKinds.includes(one.kind) ? one.getText() : undefined)),
    )
    .map((text) => new RegExp(`^${text.slice(1, -1).replace(/\$\{[^}]*\}/g, '\\w*')}$`))

const textKinds = [
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateExpression,
]

/** What `conflict(code)`, `new ApiError(409, error)` and `new ParentDeleted()` in a node answer. */
const codesThrownIn = (node: Node): string[] =>
  collect(node, (one) => {
    const isCall = one.kind === SyntaxKind.CallExpression
    if (!isCall && one.kind !== SyntaxKind.NewExpression) return undefined
    const { expression, arguments: given } = one as Parts
    const callee = expression.getText()
    if (callee === 'ParentDeleted') return 'invalid_state'
    if (callee === 'conflict') return (given[0] as StringLiteral).text
    if (callee !== 'ApiError' || given[0]!.getText() !== '409') return undefined
    const word = given[1]!
    // The body of `conflict` itself: its callers say which code.
    if ((word as StringLiteral).text === 'conflict') return undefined
    return errorCodes[(word as StringLiteral).text as keyof typeof errorCodes][0]
  })

type References = (node: Node) => readonly Node[]

/** A node and the code that it refers to, directly or not. */
function reachedFrom(start: Node, references: References): readonly Node[] {
  const reached = new Set([start])
  for (const node of reached) for (const next of references(node)) reached.add(next)
  return [...reached]
}

/** The kinds of declarations that hold code. */
const codeKinds = [
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.VariableDeclaration,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.PropertyAssignment,
  SyntaxKind.ClassDeclaration,
]

/** Finds the declarations in the collector that the identifiers in a node refer to; each node is looked at once. */
function referencesIn({ checker }: Project): References {
  const known = new Map<Node, readonly Node[]>()
  const originOf = (symbol: TypeSymbol) =>
    symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (node) => {
    const before = known.get(node)
    if (before) return before
    const names = collect(node, (one) => (one.kind === SyntaxKind.Identifier ? one : undefined))
    const symbols = names.length === 0 ? [] : [...checker.getSymbolAtLocation(names)]
    // The symbol of the name in `{ name }` is the property's, not the variable's.
    visit(node, (one) => {
      if (one.kind === SyntaxKind.ShorthandPropertyAssignment)
        symbols.push(checker.getShorthandAssignmentValueSymbol(one))
    })
    const declarations = [...new Set(symbols.filter((symbol) => symbol !== undefined))]
      .map(originOf)
      .flatMap((symbol) => symbol.declarations)
      .filter(({ path, kind }) => path.startsWith(collector) && codeKinds.includes(kind))
      .flatMap((handle) => handle.resolve() ?? [])
    known.set(node, declarations)
    return declarations
  }
}
