"""A PyTorch DataLoader over an HDF5 file, with worker processes. `write` makes samples.h5, `read` trains."""
import hashlib
import os
import sys

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES = 96


class Samples(Dataset):
    """Opens the file where it is used, as the manuals say; or before the workers are made, as many do."""

    def __init__(self, early):
        self.file = h5py.File("samples.h5", "r") if early else None

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File("samples.h5", "r")
        return index, torch.from_numpy(self.file["x"][index]), int(self.file["y"][index])


def write():
    with h5py.File("samples.h5", "w") as f:
        f.create_dataset("x", data=np.random.default_rng(1).random((SAMPLES, 32, 32), dtype="f4"), chunks=(4, 32, 32))
        f.create_dataset("y", data=np.arange(SAMPLES) % 10)


# Workers, how they are made, whether the file is opened before. A file object cannot be sent to a spawned process.
USUAL = [(0, None, True), (2, "fork", False), (4, "fork", True), (2, "spawn", False)]
NIGHTLY = [(0, None, False), (2, "fork", True), (4, "fork", False), (4, "spawn", False)]


def read():
    for workers, way, early in USUAL + (NIGHTLY if os.environ.get("FOREBAY_TEST_SCALE") == "nightly" else []):
        torch.manual_seed(5)
        loader = DataLoader(Samples(early), batch_size=8, shuffle=True, num_workers=workers,
                            multiprocessing_context=way, persistent_workers=workers > 0)
        for epoch in range(2):
            seen = hashlib.sha256()
            for index, x, y in loader:
                seen.update(index.numpy().tobytes() + x.numpy().tobytes() + y.numpy().tobytes())
            print(workers, way, early, epoch, seen.hexdigest()[:16], flush=True)
        del loader


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"write": write, "read": read}[sys.argv[1]]()
