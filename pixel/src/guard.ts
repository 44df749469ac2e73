/** Runs what could go wrong: the host page must not notice. */
export const attempt = <R>(work: () => R): R | undefined => {
  try {
    return work()
  } catch {}
}
