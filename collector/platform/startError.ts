/** The message is one line that says how the user can fix it. */
export class StartError extends Error {}

/** What an operator does about an error of the system. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free space',
  EDQUOT: 'the disk quota is used up: free space',
  ENOTDIR: 'a part of the path is a file: name a directory',
  EROFS: 'the disk is read-only: mount it for writing',
  EIO: 'the disk cannot be read or written: check it',
  EACCES: 'permission is missing: run as the owner of the files',
  EPERM: 'permission is missing: run as the owner of the files',
  EMFILE: 'the limit of open files is reached: raise it (LimitNOFILE of systemd, ulimit -n)',
  ENFILE: 'the limit of open files of the system is reached: raise fs.file-max',
}

/** Returns the line that an operator can act on; null for an error of the program, whose stack helps instead. */
export function operatorLine(error: Error): string | null {
  if (error instanceof StartError) return error.message
  const remedy = remedies[(error as NodeJS.ErrnoException).code ?? '']
  return remedy === undefined ? null : `${remedy} (${error.message})`
}
