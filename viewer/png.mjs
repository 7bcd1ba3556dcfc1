// A screenshot with 256 colours, a third of its size. Text and plain areas have few more.
import { crc32, deflateSync } from 'node:zlib';

/** Runs in a browser, which can read a PNG: its most frequent colours, and for each pixel the nearest of them. */
async function indexed(source) {
  const image = await createImageBitmap(await (await fetch(source)).blob());
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext('2d');
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const colours = Array.from({ length: width * height }, (_, at) => (data[at * 4] << 16) | (data[at * 4 + 1] << 8) | data[at * 4 + 2]);
  const counts = new Map();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = [...counts].sort(([, one], [, other]) => other - one).slice(0, 256).map(([colour]) => colour);
  const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
  const apart = (one, other) => parts(one).reduce((sum, part, at) => sum + (part - parts(other)[at]) ** 2, 0);
  const nearest = (colour) => palette.reduce((best, other, at) => (apart(colour, other) < apart(colour, palette[best]) ? at : best), 0);
  const places = new Map(palette.map((colour, at) => [colour, at]));
  for (const colour of counts.keys()) if (!places.has(colour)) places.set(colour, nearest(colour));
  return { width, height, palette: palette.flatMap(parts), pixels: colours.map((colour) => places.get(colour)) };
}

function chunk(kind, data) {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const body = Buffer.concat([Buffer.from(kind), data]);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** The PNG of a screenshot; `page` is any page without a policy. */
export async function small(page, screenshot) {
  const { width, height, palette, pixels } = await page.evaluate(indexed, `data:image/png;base64,${screenshot.toString('base64')}`);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  // Each line begins with the kind of its filter: none.
  const lines = Array.from({ length: height }, (_, at) => [0, ...pixels.slice(at * width, (at + 1) * width)]);
  const data = deflateSync(Buffer.from(lines.flat()), { level: 9 });
  const parts = [['IHDR', head], ['PLTE', Buffer.from(palette)], ['IDAT', data], ['IEND', Buffer.alloc(0)]];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts.map(([kind, data]) => chunk(kind, data))]);
}
