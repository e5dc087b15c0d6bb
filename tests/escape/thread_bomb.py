"""Start threads without end.

Held by: a limit on processes
Limit: processes
"""

import threading
import time

for _ in range(2000):
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print("unbounded: 2,000 threads")
