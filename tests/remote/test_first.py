import time


async def test_first(agentcore_host):
    t = time.time()
    host = await agentcore_host(modules=["fs_tools"], isolation="process")
    print("start", time.time() - t)
    r = await host.call("write_file", path="a.txt", content="hallo\n")
    print(r)
    print(await host.call("read_file", path="a.txt"))
    o = await host.outcome("read_file", {"pth": "a"})
    print(o.error)
    t = time.perf_counter()
    for i in range(300):
        await host.call("file_stat", path="a.txt")
    print("per call", (time.perf_counter() - t) / 300 * 1e6)
