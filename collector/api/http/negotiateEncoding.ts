/**
 * Chooses the encoding of a response from Accept-Encoding: the `offered` one with the best quality, in our
 * order of preference. `q=0` excludes one, `*` means all others. `identity` if none is left.
 */
export function chooseEncoding<Encoding extends string>(
  accepted: string | string[] | undefined,
  offered: readonly Encoding[],
): Encoding | 'identity' {
  const qualities = new Map(
    String(accepted ?? '')
      .split(',')
      .map(readRange),
  )
  let best: { encoding: Encoding | 'identity'; quality: number } = {
    encoding: 'identity',
    quality: 0,
  }
  for (const encoding of offered) {
    const quality = qualities.get(encoding) ?? qualities.get('*') ?? 0
    if (quality > best.quality) best = { encoding, quality }
  }
  return best.encoding
}

/** Parses "gzip;q=0.5" to ["gzip", 0.5]. */
function readRange(text: string): [name: string, quality: number] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
  return [name, Number.isNaN(quality) ? 1 : quality]
}
