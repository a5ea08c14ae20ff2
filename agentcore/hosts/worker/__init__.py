"""The worker, the program that runs in a host: loads modules, carries out their calls, and manages their resources."""
