// A cache of 64 MiB outside the JavaScript heap, and of 500 000 objects inside it.
const buffers = [], objects = [];

for (let i = 0; i < 1024; i++)
  buffers.push(Buffer.alloc(64 << 10, 1));
for (let i = 0; i < 500000; i++)
  objects.push({ key: i });
console.log("ready");
process.on("SIGUSR2", () => {
  const usage = process.memoryUsage();
  for (const name of ["rss", "heapTotal", "heapUsed", "arrayBuffers"])
    console.log(name, (usage[name] / 1048576).toFixed(1) + "M");
});
setTimeout(() => console.log(buffers.length, objects.length), 600000);
