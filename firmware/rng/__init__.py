"""Random numbers: an SP 800-90A generator, health tests of its source, known answers, exact scaling, cycling.

``generator.Generator`` is what the machine uses; everything else here serves it.
"""
