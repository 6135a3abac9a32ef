"""The hardware abstraction layer: ports, wire codecs and the back ends that touch the outside world."""
